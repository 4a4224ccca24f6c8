import CConfinement
import Glibc

/// The part of the kernel that lets a process without privileges give up access to files.
package enum Landlock {
    package enum Support: Hashable, Sendable {
        /// Its version, ``oldest`` or later.
        case version(Int)
        case missing(Reason)

        package init(_ answer: Int32) {
            self =
                switch answer {
                case Landlock.oldest...: .version(Int(answer))
                case 0...: .missing(.tooOld(version: Int(answer)))
                case -ENOSYS: .missing(.notBuilt)
                case -EOPNOTSUPP: .missing(.switchedOff)
                default: .missing(.refused(code: -answer))
                }
        }
    }

    package enum Reason: Hashable, Sendable {
        case notBuilt
        case switchedOff
        case tooOld(version: Int)
        /// A filter of system calls refuses it, or something else does.
        case refused(code: Int32)
    }

    /// Version 1 refuses to move files between folders, also below an allowed folder.
    static let oldest: Int32 = 2

    /// What this kernel has.
    package static var support: Support { Support(confinement_version()) }
}

extension Landlock.Reason {
    /// One line for lists: `this kernel was built without Landlock; …`.
    package var line: String { "\(problem); \(remedy)" }

    package var problem: String {
        switch self {
        case .notBuilt: "this kernel has no Landlock: it was built without it, or a filter of system calls hides it"
        case .switchedOff: "this kernel has no Landlock: it is switched off"
        case .tooOld(let version):
            "this kernel has no Landlock that can move files: its version is \(version), and \(Landlock.oldest) is needed"
        case .refused(let code): "this process may not use Landlock: \(String(cString: strerror(code)))"
        }
    }

    package var remedy: String {
        switch self {
        case .notBuilt:
            "use Linux 5.19 or later with CONFIG_SECURITY_LANDLOCK; in a container or a systemd unit, allow the landlock_* calls"
        case .switchedOff: "add 'landlock' to the kernel's parameter 'lsm=', which names the security modules"
        case .tooOld: "use Linux 5.19 or later"
        case .refused:
            "in a container or a systemd unit, allow the calls landlock_create_ruleset, landlock_add_rule and landlock_restrict_self"
        }
    }
}
