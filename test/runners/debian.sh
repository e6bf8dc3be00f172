#!/bin/sh
# Writes a clean Debian 12 into a folder that does not exist yet, with systemd, and with the packages that the guides install in the
# cache of apt, because a machine in namespaces has no network. Use: debian.sh FOLDER
set -eu
if [ "${NESTED:-}" = "" ]; then NESTED=1 exec unshare --mount --propagation private sh "$0" "$@"; fi
partial=$1.partial
rm -rf "$partial"
debootstrap --variant=minbase --include=ca-certificates bookworm "$partial"
cp /etc/resolv.conf "$partial/etc/resolv.conf"
# No service starts here. machine.sh removes it.
printf '#!/bin/sh\nexit 101\n' > "$partial/usr/sbin/policy-rc.d"
chmod 755 "$partial/usr/sbin/policy-rc.d"
mount -t proc proc "$partial/proc"
chroot "$partial" env DEBIAN_FRONTEND=noninteractive sh -euc '
  apt-get update
  apt-get install --yes --no-install-recommends systemd systemd-sysv dbus sudo curl cron openssh-client adduser iproute2 procps
  # The same as apt install, which keeps what it downloads.
  apt-get install --yes --download-only caddy nginx certbot python3-certbot-nginx haproxy nodejs prometheus postgresql'
umount "$partial/proc"
mv "$partial" "$1"
