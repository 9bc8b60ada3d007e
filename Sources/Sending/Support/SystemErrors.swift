internal import Glibc

/// The system's text for an error number of a failed call.
func errorText(_ code: Int32) -> String {
    String(cString: strerror(code))
}

/// What a person can do about a failed file operation.
func fileRemedy(_ code: Int32) -> String {
    switch code {
    case ENOSPC, EDQUOT: "free some space, or choose another disk with --run-dir"
    case EFBIG:
        "let this process have larger files (ulimit -f), or choose another disk with --run-dir"
    case EIO: "check the disk"
    case EACCES, EPERM, EROFS: "choose a folder that can be written with --run-dir"
    case ENOENT: "check the path"
    case EEXIST: "choose another folder with --run-dir"
    default: "choose another folder with --run-dir"
    }
}
