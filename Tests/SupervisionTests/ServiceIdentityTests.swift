import Foundation
import Glibc
import ServiceAPI
import Supervision
import TestSupport
import Testing

/// The ID of a service.
@Suite struct ServiceIdentityTests {
    private let temporary: TemporaryFolder
    private let folder: ServiceFolder

    init() throws {
        temporary = try TemporaryFolder()
        folder = ServiceFolder(temporary.path)
    }

    private func id(seed: UInt64) throws -> String {
        var generator = SplitMix64(seed: seed)
        return try ServiceIdentity.id(in: folder, using: &generator)
    }

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: temporary.file(name)))
    }

    @Test func `a service keeps its ID when it is started again, and another one has another`() throws {
        let first = try id(seed: 1)
        #expect(!first.isEmpty && first.allSatisfy { $0.isASCII && ($0.isNumber || $0.isLowercase) })
        #expect(try id(seed: 2) == first)
        #expect(unlink(folder.identity) == 0)
        #expect(try id(seed: 2) != first)
    }

    @Test(arguments: ["", "\n", "a b", "A", "a; Path=/", "ab\ncd", "12345678901234567", "\u{e9}"])
    func `a file that has no ID is replaced`(text: String) throws {
        try write(text, "service.id")
        let new = try id(seed: 3)
        #expect(new != text)
        #expect(try id(seed: 4) == new)
    }

    @Test func `a link in the place of the file is not followed`() throws {
        try write("other", "elsewhere")
        #expect(symlink(temporary.file("elsewhere"), folder.identity) == 0)
        #expect(try id(seed: 5) != "other")
        #expect(try String(contentsOfFile: temporary.file("elsewhere"), encoding: .utf8) == "other")
    }

    @Test func `what a service that was killed has left is no obstacle`() throws {
        try write("half", "service.id.new")
        let new = try id(seed: 6)
        #expect(try id(seed: 7) == new)
        #expect(access(temporary.file("service.id.new"), F_OK) != 0)
    }
}
