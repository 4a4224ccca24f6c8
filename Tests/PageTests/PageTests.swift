import Foundation
import HTTPService
import Page
import Reports
import TestSupport
import Testing

/// The page's files, as the program has them.
@Suite struct PageTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../Sources/Service/Page/Web"
    ).standardizedFileURL

    private let assets = [PageAsset.document] + PageAsset.others

    /// Of scripts, another test compares the bytes.
    @Test func `the program has exactly the files of the folder`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        let own = assets.filter { $0 != .looks }
        #expect(own.map(\.name).sorted() == names.sorted())
        for asset in own where !asset.name.hasSuffix(".js") {
            let file = try Data(contentsOf: Self.folder.appending(path: asset.name))
            #expect(Data(asset.bytes) == file, "\(asset.name)")
        }
    }

    /// The document and its style are loaded always, the module of a view when somebody looks at it first.
    @Test func `every file is loaded for some view`() throws {
        let texts = Dictionary(
            uniqueKeysWithValues: assets.map { ($0.name, String(decoding: $0.bytes, as: UTF8.self)) })
        func needed(by name: String, _ found: Set<String> = []) -> Set<String> {
            let imported = (texts[name] ?? "").matches(of: /from '\.\/([^']+)'/).map { String($0.1) }
            return imported.reduce(found.union([name])) { $0.contains($1) ? $0 : needed(by: $1, $0) }
        }
        let common = needed(by: "main.js").union(["index.html", "looks.css", "app.css", "icon.svg"])
        let main = try #require(texts["main.js"])
        let views = main.matches(of: /import\('\.\/([^']+)'\)/).map { String($0.1) }
        #expect(views.count >= 8)
        #expect(views.reduce(common) { $0.union(needed(by: $1)) } == Set(assets.map(\.name)))
    }

    /// With the headers that belong to the files. Every client that takes gzip gets no more.
    @Test func `the whole page is sent in at most 100 kB`() async throws {
        var total = 0
        for asset in assets {
            let answer = try await ask(Self.path(asset), ["Accept-Encoding": "gzip, deflate, br, zstd"])
            total += try #require(bytes(answer)).count
            total += answer.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        }
        #expect(total <= 100_000)
    }

    /// A text between backquotes may have lines that look like comments. None does.
    @Test func `comments are not sent, all other lines stay where they are`() throws {
        for asset in assets where asset.name.hasSuffix(".js") {
            let source = try String(contentsOf: Self.folder.appending(path: asset.name), encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            let sent = String(decoding: asset.bytes, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            try #require(source.count == sent.count, "\(asset.name)")
            var backquotes = 0
            for (number, (before, after)) in zip(source, sent).enumerated() {
                if before != after {
                    #expect(after.isEmpty && backquotes.isMultiple(of: 2), "\(asset.name):\(number + 1)")
                    #expect(before.contains(/^ *(\/\/|\/\*\*.*\*\/$)/), "\(asset.name):\(number + 1)")
                }
                backquotes += after.count { $0 == "`" }
            }
            #expect(sent.allSatisfy { !$0.contains(/^ *\/\//) }, "\(asset.name)")
        }
    }

    @Test func `every file has a type that browsers know`() {
        for asset in assets { #expect(asset.contentType != "application/octet-stream", "\(asset.name)") }
    }

    /// An absolute address would lead past the prefix of a proxy, or to another site. Styles and scripts in the document are
    /// forbidden by the page's own policy.
    @Test func `the page names only files of its own, by relative addresses`() throws {
        let document = String(decoding: PageAsset.document.bytes, as: UTF8.self)
        let names = document.matches(of: /\s(?:src|href)="([^"#][^"]*)"/).map { String($0.1) }
        #expect(!names.isEmpty)
        for name in names {
            #expect(name.hasPrefix("page/") && PageAsset.others.contains { "page/\($0.name)" == name }, "\(name)")
        }
        #expect(document.firstMatch(of: /<style|\sstyle=|\son[a-z]+=|<base/) == nil)
        for script in PageAsset.others where script.name.hasSuffix(".js") {
            let text = String(decoding: script.bytes, as: UTF8.self)
            for imported in text.matches(of: /(?:from|import)\s*\(?\s*["']([^"']+)["']/) {
                let name = String(imported.1)
                #expect(PageAsset.others.contains { "./\($0.name)" == name }, "\(script.name) imports \(name)")
            }
        }
    }

    /// A report of a run and the page show the same things, and look alike.
    @Test func `the page has the looks of a run's report, and no colors of its own`() throws {
        #expect(PageAsset.looks.bytes == Looks.shared)
        let document = String(decoding: PageAsset.document.bytes, as: UTF8.self)
        let styles = document.matches(of: /rel="stylesheet" href="page\/([^"]+)"/).map { String($0.1) }
        #expect(styles == ["looks.css", "app.css"])
        let style = String(decoding: try #require(PageAsset.others.first { $0.name == "app.css" }).bytes, as: UTF8.self)
        #expect(style.firstMatch(of: /--[a-z]+: #/) == nil)
    }

    private func ask(_ path: String, _ headers: Headers = [:]) async throws -> APIResponse {
        guard
            case .route(let route, let parameters) = try RouteTable(PageRoutes.all).match("GET", RequestTarget(path))
        else { throw Problem.notFound(path) }
        #expect(route.access == .open)
        return try await route.handler(APIRequest(path: path, parameters: parameters, headers: headers))
    }

    private static func path(_ asset: PageAsset) -> String { asset == .document ? "/" : "/page/\(asset.name)" }

    private func bytes(_ response: APIResponse) -> [UInt8]? {
        if case .bytes(let bytes) = response.body { bytes } else { nil }
    }

    @Test func `each file is served with its type, and is asked for each time`() async throws {
        for asset in assets {
            let path = Self.path(asset)
            let answer = try await ask(path)
            #expect(answer.status == 200)
            #expect(bytes(answer) == asset.bytes)
            #expect(answer.headers["Content-Type"] == asset.contentType)
            #expect(answer.headers["Cache-Control"] == "private, no-cache")
            #expect(
                answer.headers["Content-Security-Policy"]?.hasPrefix("default-src 'none'; script-src 'self'; ") == true)
            let tag = try #require(answer.headers["ETag"])
            let again = try await ask(path, ["If-None-Match": tag])
            #expect(again.status == 304)
            #expect(bytes(again) == [])
        }
    }

    @Test func `a client that takes gzip gets the same file compressed, under another tag`() async throws {
        let folder = try TemporaryFolder()
        for asset in assets where asset.gzip != nil {
            let path = Self.path(asset)
            let (plain, packed) = (try await ask(path), try await ask(path, ["Accept-Encoding": "br, gzip"]))
            #expect(plain.headers["Content-Encoding"] == nil)
            #expect(plain.headers["Vary"] == "Accept-Encoding")
            #expect(packed.headers["Content-Encoding"] == "gzip")
            #expect(packed.headers["Vary"] == "Accept-Encoding")
            #expect(packed.headers["ETag"] != plain.headers["ETag"])
            // Another program unpacks it.
            let file = URL(filePath: folder.file(asset.name))
            try Data(try #require(bytes(packed))).write(to: file.appendingPathExtension("gz"))
            let unpacking = Process()
            unpacking.executableURL = URL(filePath: "/usr/bin/gzip")
            unpacking.arguments = ["-d", file.appendingPathExtension("gz").path]
            try unpacking.run()
            unpacking.waitUntilExit()
            #expect(unpacking.terminationStatus == 0)
            #expect(try Data(contentsOf: file) == Data(asset.bytes), "\(asset.name)")
            let tag = try #require(packed.headers["ETag"])
            let again = try await ask(path, ["Accept-Encoding": "gzip", "If-None-Match": tag])
            #expect(again.status == 304)
            #expect(again.headers["Content-Encoding"] == nil)
            #expect(bytes(again) == [])
            // Who takes no gzip any more has not got these bytes.
            #expect(try await ask(path, ["If-None-Match": tag]).status == 200)
        }
        #expect(assets.contains { $0.gzip != nil })
    }

    @Test(arguments: ["/page/other.js", "/page/index.html", "/page/", "/page", "/index.html", "/page/app.css/x"])
    func `nothing else is there`(path: String) async throws {
        let problem = await #expect(throws: Problem.self) { try await ask(path) }
        #expect(problem?.status == 404)
    }
}
