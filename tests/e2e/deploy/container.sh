# Makes the root of a container and becomes its program:
#   FOLDER PROGRAM SETPRIV_FLAG... -- MOUNT... -- ARGUMENT...
# Runs as root in namespaces of its own, which end with it.
set -eu
folder=$1 program=$2
shift 2
confine=()
while [ "$1" != -- ]; do
    confine+=("$1")
    shift
done
shift
mounts=()
while [ "$1" != -- ]; do
    mounts+=("$1")
    shift
done
shift

mount --make-rslave /
root=$folder/root
mkdir -p "$root"
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root"
mkdir -p "$root"/{proc,sys,dev,etc,tmp}
# As in a distroless image: the program, the C library, and no shell. setpriv is what becomes
# the program.
for file in "$program" "$(command -v setpriv)"; do
    install -m 755 "$file" "$root/${file##*/}"
    for library in $(ldd "$file" | grep -o '/[^ ]*'); do
        mkdir -p "$root/${library%/*}"
        cp -L "$library" "$root$library"
    done
done
cp "$folder/files/hosts" "$root/etc/hosts"
echo 'hosts: files' >"$root/etc/nsswitch.conf"
# Name services that the C library opens by name.
for library in /lib/x86_64-linux-gnu/libnss_files.so.2 /lib/aarch64-linux-gnu/libnss_files.so.2; do
    if [ -e "$library" ]; then
        mkdir -p "$root/${library%/*}"
        cp -L "$library" "$root$library"
    fi
done
for device in null urandom; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
ip link set lo up 2>/dev/null || true
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
for mount in "${mounts[@]}"; do
    IFS=: read -r kind source place <<<"$mount"
    mkdir -p "$root$place"
    if [ "$kind" = host ]; then
        # Read-only and HostToContainer: mounts below it are seen, and later ones, too.
        mount --rbind "$source" "$root$place"
        mount --make-rslave "$root$place"
        mount -o remount,bind,ro "$root$place"
    else
        mount -t tmpfs -o mode=755,nosuid,nodev,noexec tmpfs "$root$place"
        cp -r "$folder/files/$source/." "$root$place"
        chmod -R u=rwX,go=rX "$root$place"
        mount -o remount,ro "$root$place"
    fi
done
mount -o remount,ro "$root"
cd /
exec chroot "$root" /setpriv "${confine[@]}" "/${program##*/}" "$@"
