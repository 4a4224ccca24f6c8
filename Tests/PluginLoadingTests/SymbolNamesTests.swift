import CPluginTrial
import Foundation
import TestSupport
import Testing

/// Whether a file names a symbol, as it is asked before a library is opened.
@Suite struct SymbolNamesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let symbol = "stranger"

    private func file(_ bytes: [UInt8]) throws -> String {
        let path = folder.file("file")
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    private func names(_ path: String) -> Bool { file_names_symbol(path, Self.symbol) != 0 }

    private func library(_ source: String) throws -> [UInt8] {
        let (input, output) = (folder.file("library.c"), folder.file("library.so"))
        try source.write(toFile: input, atomically: true, encoding: .utf8)
        let compiler = try Process.run(
            URL(filePath: "/usr/bin/env"), arguments: ["cc", "-shared", "-fPIC", input, "-o", output])
        compiler.waitUntilExit()
        #expect(compiler.terminationStatus == 0)
        return Array(try Data(contentsOf: URL(filePath: output)))
    }

    @Test func `a library names the symbols that it has and uses, and not the words in its data`() throws {
        #expect(names(try file(library("int stranger(void) { return 0; }"))))
        #expect(names(try file(library("int stranger(void); int other(void) { return stranger(); }"))))
        #expect(!names(try file(library("const char other[] = \"stranger\";"))))
    }

    /// Where the head of a library says where its table of sections is, how many it has, and how large they are.
    private static let (table, size, count) = (0x28, 0x3a, 0x3c)

    @Test func `a library whose table of sections is missing or damaged is searched whole`() throws {
        let whole = try library("int stranger(void) { return 0; }")
        func number(_ place: Int, _ bytes: Int) -> Int {
            whole[place..<(place + bytes)].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let start = number(Self.table, 8)
        #expect(names(try file(Array(whole[..<start]))))
        var none = whole
        none[Self.count] = 0
        #expect(names(try file(none)))
        var odd = whole
        odd[Self.size] = 1
        #expect(names(try file(odd)))
        var far = whole
        for place in 0..<8 { far[Self.table + place] = 0xff }
        #expect(names(try file(far)))
        // Each byte of the table once. What is found then does not matter, as long as the search ends.
        for place in start..<min(whole.count, start + number(Self.count, 2) * number(Self.size, 2)) {
            var damaged = whole
            damaged[place] = 0xff
            _ = names(try file(damaged))
        }
    }

    @Test func `a name is found wherever it lies in a file that is no library`() throws {
        let name = Array(Self.symbol.utf8)
        for start in [0, 1, 65_535 - name.count, 65_530, 65_536, 65_536 + name.count, 131_070, 200_000] {
            #expect(names(try file([UInt8](repeating: 0x20, count: start) + name)), "at \(start)")
            #expect(!names(try file([UInt8](repeating: 0x20, count: start) + name.dropLast())), "at \(start)")
        }
    }

    @Test func `what is no file, or cannot be read, names nothing`() throws {
        #expect(!names(folder.path))
        #expect(!names(folder.file("missing")))
        #expect(!names(try file([])))
    }
}
