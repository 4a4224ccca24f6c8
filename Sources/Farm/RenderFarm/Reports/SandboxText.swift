package import Catalogs
import JobModel
package import Settings

/// The lines of `penumbra doctor` about what keeps workers from the rest of a machine.
package enum SandboxText {
    /// A missing part is no failure: the setting 'require' refuses to start workers there.
    ///
    /// - Parameters:
    ///   - report: The words may be those of another machine. Nil if it reported nothing.
    ///   - node: The element that reported it, as one visible line. Nil for this machine.
    package static func lines(
        of report: SandboxReport?, _ setting: Setting<SandboxMode>, node: String? = nil
    ) -> [String] {
        let (subject, there) = (node.map { "\($0): sandbox" } ?? "sandbox", node == nil ? "here" : "there")
        guard setting.value != .off else { return ["note  \(subject): off (\(setting.origin.description))"] }
        guard let report else { return ["note  \(subject): nothing is known of it, because no worker reported it"] }
        guard report.missing.isEmpty else {
            let words =
                switch report.files {
                case _ where report.limitsCalls: "a part of it is missing"
                case .handedOver, .ownFolders:
                    "workers open no files but those of their tasks, libraries and fonts, and can do all else that you can"
                case .allReadable, .any: unconfined
                }
            return report.missing.map {
                "note  \(subject): \(words): \(VisibleText.line($0)); 'sandbox: require' would refuse to run \(there)"
            }
        }
        guard report.limitsCalls else { return ["note  \(subject): \(unconfined), and the worker reported no reason"] }
        let means = "(a filter of system calls, and Landlock)"
        let others = "workers start no programs, open no sockets, touch no other process"
        switch report.files {
        case .handedOver:
            return [
                "ok    \(subject): \(others), and open no files but those of their tasks, libraries and fonts \(means)"
            ]
        case .ownFolders:
            return [
                "ok    \(subject): \(others), and open no files but those of their tasks, the folders of their outputs, "
                    + "libraries and fonts \(means)"
            ]
        case .allReadable:
            return [
                "note  \(subject): \(others), and write only the files of their tasks \(means), but they can read all files "
                    + "that you can read"
            ]
        case .any:
            return ["note  \(subject): \(others) \(means), but they can read and write all files that you can"]
        }
    }

    /// The jobs whose workers may do more than ``lines(of:_:node:)`` says. Nil if all of them may.
    package static func exception(from report: SandboxReport) -> String? {
        guard report.limitsCalls, report.files == .handedOver else { return nil }
        return
            "note  sandbox: the workers of jobs with Deep Zoom or IIIF outputs also create files in folders of their "
            + "run, and read the folders of their outputs"
    }

    /// What no sandbox takes away. Nil for other users than root.
    package static func warning(isRoot: Bool) -> String? {
        isRoot
            ? "note  penumbra runs as root, whose workers have root's rights to all files that they can open; run it as a user of its own"
            : nil
    }

    private static let unconfined = "workers can do what you can do"
}
