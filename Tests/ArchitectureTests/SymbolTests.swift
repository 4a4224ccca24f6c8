import Foundation
import Testing

/// The inner loops are compiled for CPUs of several levels in one program. Where two modules define a weak symbol of
/// one name, the linker keeps either: then code for a newer CPU could run on an older one. So every function that is
/// defined in such a module must carry the module's own name.
@Suite struct SymbolTests {
    private static let build = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()

    /// Names of the functions that the objects of a module define and other modules can see.
    private func functions(of module: String) throws -> [String] {
        let folder = Self.build.appending(path: "\(module).build")
        let objects = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".o") }
        #expect(!objects.isEmpty)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/nm")
        process.arguments = ["--defined-only"] + objects.map { folder.appending(path: $0).path }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ")
            // T: a global function; W: a weak one. Data (V, R, D) holds no instructions.
            guard parts.count == 3, ["T", "W"].contains(parts[1]) else { return nil }
            return String(parts[2])
        }
    }

    #if arch(x86_64)
        @Test(arguments: ["RowKernelsV2", "RowKernelsV3", "RowKernelsV4"])
        func `no function of a CPU level can stand in for another module's`(module: String) throws {
            let names = try functions(of: module)
            #expect(names.count > 20)
            for name in names {
                #expect(name.hasPrefix("$s\(module.utf8.count)\(module)"), "\(name) could be merged by the linker")
            }
        }
    #endif
}
