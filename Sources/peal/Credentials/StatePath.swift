import Glibc

/// Where Peal keeps what outlives a run: `$XDG_STATE_HOME/peal`, else `~/.local/state/peal` (XDG
/// Base Directory Specification, which also says that a relative `XDG_STATE_HOME` is to be
/// ignored).
enum StatePath {
    /// The path of `name` in Peal's state folder; nothing is created. `variable` looks up a
    /// variable of the environment.
    static func folder(
        _ name: String, variable: (String) -> String? = environment
    ) throws(CommandFailure) -> String {
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") {
            return "\(state)/peal/\(name)"
        }
        guard let home = variable("HOME"), home.hasPrefix("/") else {
            throw .refused(
                "there is no place for Peal's own files: neither XDG_STATE_HOME nor HOME names a "
                    + "folder; set one of them")
        }
        return "\(home)/.local/state/peal/\(name)"
    }

    /// Creates the folder `path` and those above it, open to this user alone.
    static func create(_ path: String) throws(CommandFailure) {
        var parent = ""
        for part in path.split(separator: "/") {
            parent += "/" + part
            if mkdir(parent, 0o700) != 0, errno != EEXIST {
                let text = String(cString: strerror(errno))
                throw .refused("cannot create the folder \(parent): \(text); make it by hand")
            }
        }
    }

    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
