/* kernel-writes.txt in a run folder: what the kernel wrote of the program's files (`perfmap run
 * --kernel-writes`). The io adapter names the files' inodes in the run file: a noun of kind
 * `inode`, "MAJOR:MINOR:NUMBER", which is a part of the file's.
 *
 *     perfmap-kernel-writes 1
 *     254:0:10953183 8388608 2 1733000 9120333 1170 other /home/u/out.dat
 */
#ifndef PM_KERNEL_WRITES_H
#define PM_KERNEL_WRITES_H

#define PM_KERNEL_WRITES_NAME "kernel-writes.txt"
#define PM_KERNEL_WRITES_HEAD "perfmap-kernel-writes 1\n"
#define PM_INODE_KIND "inode"

#endif
