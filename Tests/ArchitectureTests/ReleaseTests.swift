import Foundation
import Testing

/// The version and the licenses, read from the sources as `make dist` and the packages read them.
@Suite struct ReleaseTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
    }

    /// The number in Version.swift.
    private func version() throws -> String {
        let file = try text("Sources/Farm/WorkerProtocol/Version.swift")
        let match = file.firstMatch(of: /static let penumbra = "(\d+\.\d+\.\d+)"\n/)
        return String(try #require(match, "Version.swift has no number").1)
    }

    /// The headings of the changelog that name a version and its day, the newest first.
    private func releases() throws -> [String] {
        try text("CHANGELOG.md").matches(of: /(?m)^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$/).map { String($0.1) }
    }

    @Test func `the version is that of the newest release in the changelog`() throws {
        #expect(try version() == releases().first)
    }

    @Test func `releases are in the changelog once each, the newest first`() throws {
        let numbers = try releases().map { $0.split(separator: ".").compactMap { Int($0) } }
        for (newer, older) in zip(numbers, numbers.dropFirst()) {
            #expect(older.lexicographicallyPrecedes(newer), "\(older) is above \(newer)")
        }
    }

    @Test func `a heading of the changelog is Unreleased, or a version with its day`() throws {
        let headings = try text("CHANGELOG.md").split(separator: "\n").filter { $0.hasPrefix("## ") }
        let first = try #require(headings.first)
        let others = first == "## Unreleased" ? headings.dropFirst() : headings[...]
        for heading in others {
            #expect(heading.wholeMatch(of: /## \d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)/) != nil, "\(heading)")
        }
    }

    @Test func `no other file of the sources has the version's number`() throws {
        let number = try version()
        for file in try SourceTree.swiftFiles(below: "Sources") where !file.path.hasSuffix("/Version.swift") {
            #expect(!file.text.contains("\"\(number)\""), "\(file.path)")
        }
    }

    /// Files that authors of plugins copy.
    private static let copied =
        ["swift-package", "swift-filter", "swift-test", "c-filter", "c-makefile"]
        .map { "Sources/Programs/penumbra/Templates/\($0).txt" }
        + ["Sources/Pixels/CPenumbraPlugin/include/penumbra_plugin.h"]

    @Test(arguments: copied) func `a file that authors of plugins copy says that it is under MIT-0`(path: String) throws
    {
        let lines = try text(path).split(separator: "\n").prefix(3)
        #expect(lines.contains { $0.hasSuffix(" SPDX-License-Identifier: MIT-0") })
    }

    @Test func `the license is Apache 2.0 with Swift's exception, and says nothing else`() throws {
        let license = try text("LICENSE")
        #expect(license.hasPrefix("                                 Apache License\n"))
        #expect(license.contains("## Runtime Library Exception to the Apache 2.0 License: ##"))
        #expect(license.hasSuffix("otherwise be required by Sections 4(a), 4(b) and 4(d) of the License.\n"))
    }
}
