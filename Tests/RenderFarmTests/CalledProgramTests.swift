import RenderFarm
import Testing

@Suite struct CalledProgramTests {
    private static let file = "/usr/lib/penumbra/penumbra"

    /// `/usr/bin/penumbra` is a link to the program, and `/opt/bin/penumbra` is another program.
    private func path(_ name: String, in folder: String = "/home/ada", searchPath: String = "/usr/bin:/bin") -> String {
        CalledProgram(file: Self.file, name: name, currentFolder: folder, searchPath: searchPath)
            .path { $0 == "/usr/bin/penumbra" ? Self.file : $0 }
    }

    @Test(arguments: ["penumbra", "/usr/bin/penumbra", "../../usr/bin/penumbra"])
    func `a link by which the program was called is its path`(name: String) {
        #expect(path(name) == "/usr/bin/penumbra")
    }

    @Test func `a relative name starts at the current folder`() {
        #expect(path("bin/penumbra", in: "/usr") == "/usr/bin/penumbra")
        #expect(path("bin/penumbra", in: "/opt") == Self.file)
    }

    @Test func `the first folder of the search path that leads to the program counts`() {
        #expect(path("penumbra", searchPath: "/opt/bin:bin::/usr/bin") == "/usr/bin/penumbra")
    }

    @Test(arguments: ["", "penumbra-2", "./penumbra", "/opt/bin/penumbra"])
    func `without such a link the program's file is its path`(name: String) {
        #expect(path(name, searchPath: "/opt/bin") == Self.file)
    }

    @Test func `relative folders of the search path do not count`() {
        #expect(path("penumbra", in: "/usr", searchPath: "bin") == Self.file)
    }
}
