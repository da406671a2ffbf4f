# Chroots of other suites of Debian and Ubuntu, below build/chroot. Source it, with $here, $logs, $script set and scripts/progress.sh sourced:
#
#     own_namespace ARGUMENT...   starts the script again in a mount namespace of its own: whatever is mounted is gone when it ends
#     open_chroot SUITE           makes the chroot where it is missing (debootstrap, a network, root) and mounts the source in it
#     fresh_chroot SUITE NAME     a copy of that name with nothing installed in it, each time; open_chroot NAME mounts the source
#     in_chroot SUITE COMMAND...  runs a command there; PerfMap's source is /perfmap (read only), its build folder /perfmap/build
#     install_in SUITE PACKAGE... installs what is missing
#
# Suites: bookworm, trixie, sid (Debian), noble (Ubuntu 24.04). PERFMAP_MIRROR and PERFMAP_UBUNTU_MIRROR name other mirrors.
# shellcheck shell=bash disable=SC2154 # here, logs and script are set by the caller
chroots=$here/build/chroot

own_namespace() {
    [ "$(id -u)" = 0 ] || die 'chroots want root'
    command -v unshare >/dev/null || die 'no unshare: apt-get install util-linux'
    [ -n "${PERFMAP_NAMESPACE:-}" ] || PERFMAP_NAMESPACE=own exec unshare --mount --propagation private "$here/scripts/$script" "$@"
    mkdir -p "$chroots" "$logs"
}

in_chroot() {
    local suite=$1
    shift
    nice chroot "$chroots/$suite" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PERFMAP_SOURCES=/perfmap/build/sources ${PERFMAP_GCC:+"PERFMAP_GCC=$PERFMAP_GCC"} ${PERFMAP_CLANG:+"PERFMAP_CLANG=$PERFMAP_CLANG"} ${PERFMAP_TRUTH:+"PERFMAP_TRUTH=$PERFMAP_TRUTH"} "$@"
}

# run_debootstrap SUITE FOLDER. Debian has no package of Ubuntu's keys: without them the index is trusted as the mirror sends it.
run_debootstrap() {
    case $1 in
    bookworm | trixie | sid)
        debootstrap --variant=minbase "$1" "$2" "${PERFMAP_MIRROR:-http://deb.debian.org/debian}"
        ;;
    noble)
        local keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg known=/usr/share/debootstrap/scripts/noble
        local options=(--variant=minbase '--components=main,universe')
        if [ -e $keys ]; then options+=("--keyring=$keys"); else options+=(--no-check-gpg); fi
        [ -e $known ] || known=/usr/share/debootstrap/scripts/gutsy # every later Ubuntu's is a link to it
        debootstrap "${options[@]}" "$1" "$2" "${PERFMAP_UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}" $known
        ;;
    *) die "no suite '$1' here (bookworm, trixie, sid or noble)" ;;
    esac
}

# Whole or not at all; services are not started in it. build/chroot/SUITE.tar is how it was before anything was installed.
make_chroot() {
    local root=$chroots/$1
    [ ! -x "$root/usr/bin/apt-get" ] || [ ! -e "$root.tar" ] || return 0
    command -v debootstrap >/dev/null || die 'no debootstrap: apt-get install debootstrap'
    rm -rf "$root.new"
    say "$script: making a chroot of $1 (a minute)"
    run_debootstrap "$1" "$root.new" >"$logs/debootstrap-$1.log" 2>&1 ||
        die "debootstrap $1 failed (is there a network?): $(tail -n 1 "$logs/debootstrap-$1.log")"
    printf '#!/bin/sh\nexit 101\n' >"$root.new/usr/sbin/policy-rc.d"
    chmod +x "$root.new/usr/sbin/policy-rc.d"
    # Debian's sid on a mirror that is a snapshot is older than its index allows.
    echo 'Acquire::Check-Valid-Until "false";' >"$root.new/etc/apt/apt.conf.d/90perfmap"
    tar -C "$root.new" -cf "$root.tar.new" . && mv "$root.tar.new" "$root.tar"
    rm -rf "$root"
    mv "$root.new" "$root"
}

# A copy that nothing was installed in: fresh_chroot SUITE NAME
fresh_chroot() {
    make_chroot "$1"
    rm -rf "${chroots:?}/$2"
    mkdir -p "$chroots/$2"
    tar -C "$chroots/$2" -xf "$chroots/$1.tar"
}

# The source cannot be written there; over its build folder lies one of the chroot's own.
open_chroot() {
    local root=$chroots/$1 build=$chroots/build-$1
    [ -d "$root" ] || make_chroot "$1"
    mkdir -p "$root/perfmap" "$build/sources"
    mount --bind "$here" "$root/perfmap"
    mount -o remount,bind,ro "$root/perfmap"
    mount --bind "$build" "$root/perfmap/build"
    [ -z "${PERFMAP_SOURCES:-}" ] || mount --bind "$PERFMAP_SOURCES" "$root/perfmap/build/sources"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t tmpfs tmpfs "$root/dev/shm"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
}

install_in() {
    local suite=$1 missing
    shift
    # shellcheck disable=SC2016 # the chroot's shell
    missing=$(in_chroot "$suite" sh -c 'dpkg-query -W -f "\${db:Status-Status} \${Package}\n" 2>/dev/null | sed -n "s/^installed //p" >/tmp/installed
        for package; do grep -qx "$package" /tmp/installed || echo "$package"; done' - "$@")
    [ -n "$missing" ] || return 0
    step "update-$suite" "apt-get update in $suite" in_chroot "$suite" apt-get -q update
    # shellcheck disable=SC2086 # a list of words
    step "packages-$suite" "installing packages in $suite" in_chroot "$suite" apt-get -q install -y --no-install-recommends $missing
}
