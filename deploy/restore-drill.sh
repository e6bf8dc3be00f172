#!/bin/sh
# Tries a backup: restores it into a new folder, checks it, prints what it has, and removes the folder. It does not touch
# the list. Use: restore-drill.sh BACKUP [COMMAND], where COMMAND is the command line of Rollcall. Exit code 0: it is good.
set -eu
backup=${1:?"use: restore-drill.sh BACKUP [COMMAND]"}
shift
[ $# -gt 0 ] || set -- rollcall

# The settings of the service are not needed. sudo, which may be in COMMAND, drops these two, so each command names its list.
export ENV_FILE=/dev/null
unset DATABASE_URL
# Not /tmp, which is in memory on many machines: doctor calls that wrong, and a large list does not fit.
folder=$(mktemp -d "${TMPDIR:-/var/tmp}/rollcall.XXXXXX")
trap 'rm -rf "$folder"' EXIT
list=sqlite:$folder/rollcall.db

"$@" restore "$backup" --list "$list"
"$@" doctor --list "$list" > "$folder/doctor" || { cat "$folder/doctor" >&2; exit 1; }
"$@" count --json --list "$list"
