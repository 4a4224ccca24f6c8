import Glibc
import JobModel

extension ListenerError {
    package var description: String {
        let place = VisibleText.line(place)
        let (what, remedies) = words
        return ([("\(place): error: \(what)")] + remedies).joined(separator: "\n   = ")
    }

    private var words: (String, [String]) {
        switch problem {
        case .pathTooLong(let bytes):
            (
                "the path of a socket may have 107 bytes, and this one has \(bytes)",
                ["choose a shorter folder by --service-dir"]
            )
        case .notAbsolute: ("the path of a socket must begin with '/'", ["write the whole path"])
        case .folderMissing: ("the folder of the socket does not exist", ["create it with mode 0700"])
        case .folderIsOpen(let mode):
            (
                "the folder of the control socket is open to other users (mode \(octal(mode)), or another owner)",
                ["it must belong to the user of the service, with mode 0700: chmod 0700 FOLDER"]
            )
        case .otherFile:
            ("there is a file that is no socket", ["move it away, or choose another folder by --service-dir"])
        case .served:
            (
                "another process answers at this socket",
                ["stop that service first, or choose another folder by --service-dir"]
            )
        case .portInUse:
            ("another process uses this port", ["choose another port by --listen, or stop that process"])
        case .noPermission(isPort: true):
            ("no permission to use this port", ["ports below 1024 are for root: choose a higher one by --listen"])
        case .noPermission(isPort: false):
            ("no permission to create the socket", ["the user of the service must be able to write to its folder"])
        case .notAnAddress:
            ("this is not an IP address", ["write an address such as 127.0.0.1 or ::1, not a name"])
        case .addressMissing: ("this machine does not have this address", ["'ip address' lists the addresses"])
        case .notBehindProxy:
            (
                "the service speaks no TLS, so it does not listen on addresses of other networks",
                ["listen on 127.0.0.1, or set behind_proxy: true if a proxy with TLS is in front"]
            )
        case .unknownName(let name):
            (
                "systemd has passed a socket with the unknown name '\(VisibleText.line(name))'",
                ["write FileDescriptorName=control, web or http in the .socket unit"]
            )
        case .notListening:
            ("the socket from systemd does not listen", ["use ListenStream= and Accept=no in the .socket unit"])
        case .wrongFamily(let name):
            (
                "the socket '\(name)' from systemd has the wrong kind of address",
                ["control and web are paths, http is a port"]
            )
        case .tooManySockets: ("systemd has passed too many sockets", ["16 are allowed"])
        case .system(let call, let code):
            ("\(call) failed: \(String(cString: strerror(code)))", [])
        }
    }

    private func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
