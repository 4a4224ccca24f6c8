import Catalogs
import RenderFarm
import Settings
import Testing

/// What `penumbra doctor` says of the sandbox of workers.
@Suite struct SandboxTextTests {
    private func lines(
        _ report: SandboxReport?, _ mode: SandboxMode = .auto, node: String? = nil
    ) -> [String] {
        SandboxText.lines(of: report, Setting(mode, .environment("PENUMBRA_SANDBOX")), node: node)
    }

    private let whole = SandboxReport(limitsCalls: true, files: .handedOver)

    @Test func `a whole sandbox is said with its promises and its exception`() {
        #expect(
            lines(whole) == [
                "ok    sandbox: workers start no programs, open no sockets, touch no other process, and open no files but those of their tasks, libraries and fonts (a filter of system calls, and Landlock)"
            ])
        #expect(
            SandboxText.exception(from: whole)
                == "note  sandbox: the workers of jobs with Deep Zoom or IIIF outputs also create files in folders of their run, and read the folders of their outputs"
        )
    }

    @Test func `root is told what no sandbox takes away`() {
        #expect(
            SandboxText.warning(isRoot: true)
                == "note  penumbra runs as root, whose workers have root's rights to all files that they can open; run it as a user of its own"
        )
        #expect(SandboxText.warning(isRoot: false) == nil)
    }

    @Test func `that of a node names the element`() {
        #expect(
            lines(whole, node: "element 12_0 on n2") == [
                "ok    element 12_0 on n2: sandbox: workers start no programs, open no sockets, touch no other process, and open no files but those of their tasks, libraries and fonts (a filter of system calls, and Landlock)"
            ])
    }

    @Test func `each missing part is a line, without control characters of the machine that reported it`() {
        let report = SandboxReport(limitsCalls: true, files: .handedOver, missing: ["no Landlock", "a\u{1b}b"])
        #expect(
            lines(report, node: "n2") == [
                "note  n2: sandbox: a part of it is missing: no Landlock; 'sandbox: require' would refuse to run there",
                #"note  n2: sandbox: a part of it is missing: a\u{1b}b; 'sandbox: require' would refuse to run there"#,
            ])
        #expect(
            lines(SandboxReport(limitsCalls: false, files: .any, missing: ["no filter"])) == [
                "note  sandbox: workers can do what you can do: no filter; 'sandbox: require' would refuse to run here"
            ])
    }

    @Test func `a report never promises more than it says`() {
        #expect(
            lines(whole.withFolders) == [
                "ok    sandbox: workers start no programs, open no sockets, touch no other process, and open no files but those of their tasks, the folders of their outputs, libraries and fonts (a filter of system calls, and Landlock)"
            ])
        #expect(
            lines(SandboxReport(limitsCalls: true, files: .any)) == [
                "note  sandbox: workers start no programs, open no sockets, touch no other process (a filter of system calls, and Landlock), but they can read and write all files that you can"
            ])
        #expect(
            lines(SandboxReport(limitsCalls: true, files: .allReadable)) == [
                "note  sandbox: workers start no programs, open no sockets, touch no other process, and write only the files of their tasks (a filter of system calls, and Landlock), but they can read all files that you can read"
            ])
        #expect(
            lines(SandboxReport(limitsCalls: false, files: .any)) == [
                "note  sandbox: workers can do what you can do, and the worker reported no reason"
            ])
        #expect(
            lines(nil, node: "n2") == ["note  n2: sandbox: nothing is known of it, because no worker reported it"])
        #expect(SandboxText.exception(from: whole.withFolders) == nil)
    }

    @Test func `a sandbox that the settings turn off is said with the setting`() {
        #expect(lines(.off, .off) == ["note  sandbox: off (PENUMBRA_SANDBOX)"])
        #expect(lines(.off, .off, node: "n2") == ["note  n2: sandbox: off (PENUMBRA_SANDBOX)"])
    }
}
