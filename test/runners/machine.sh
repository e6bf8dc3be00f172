#!/bin/sh
# Starts a machine in namespaces of its own: a copy of a root file system that is kept in memory, without a network. Use:
# machine.sh CGROUP ROOT SHARE INIT…, where ROOT is the root file system (/ for that of this machine), the folder SHARE is /srv in the
# machine, and INIT is its first process.
set -eu
if [ "${NESTED:-}" = "" ]; then
  mkdir "$1"
  echo $$ > "$1/cgroup.procs"
  NESTED=1 exec unshare --mount --pid --fork --kill-child --cgroup --uts --ipc --net --propagation private sh "$0" "$@"
fi
root=$2
share=$3
shift 3
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o "lowerdir=$root",upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
cd /mnt/root
mount --bind "$share" srv
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
  touch dev/$name
  mount --bind /dev/$name dev/$name
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs tmpfs dev/shm
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 none sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
# Images for containers have it, so that packages start no service.
rm -f usr/sbin/policy-rc.d
# They would change the kernel of this machine, or wait for a network.
for unit in systemd-sysctl systemd-modules-load systemd-networkd-wait-online ifupdown-wait-online NetworkManager-wait-online; do
  ln -sf /dev/null "etc/systemd/system/$unit.service"
done
ip link set lo up
exec env -i container=rollcall-test PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . "$@"
