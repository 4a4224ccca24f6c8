import Foundation
import HTTPService
import Page
import Reports
import Testing

/// The page's files, as the program has them.
@Suite struct PageTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../Sources/Service/Page/Web"
    ).standardizedFileURL

    private let assets = [PageAsset.document] + PageAsset.others

    @Test func `the program has exactly the files of the folder`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(assets.map(\.name).sorted() == names.sorted())
        for asset in assets {
            let file = try Data(contentsOf: Self.folder.appending(path: asset.name))
            #expect(Data(asset.bytes) == file, "\(asset.name)")
        }
    }

    /// What a browser loads for an address of the page: the document, its style, and the modules that this view needs. The modules
    /// of other views are loaded when somebody looks at them.
    @Test func `no address of the page loads more than 100 kB`() throws {
        let texts = Dictionary(
            uniqueKeysWithValues: assets.map { ($0.name, String(decoding: $0.bytes, as: UTF8.self)) })
        func needed(by name: String, _ found: Set<String> = []) -> Set<String> {
            let imported = (texts[name] ?? "").matches(of: /from '\.\/([^']+)'/).map { String($0.1) }
            return imported.reduce(found.union([name])) { $0.contains($1) ? $0 : needed(by: $1, $0) }
        }
        let common = needed(by: "main.js").union(["index.html", "app.css", "icon.svg"])
        let main = try #require(texts["main.js"])
        let views = main.matches(of: /import\('\.\/([^']+)'\)/).map { String($0.1) }
        #expect(views.count >= 8)
        for view in views {
            let files = common.union(needed(by: view))
            #expect(files.compactMap { texts[$0]?.utf8.count }.reduce(0, +) <= 100_000, "\(view)")
        }
        // Nothing is there that nobody loads.
        #expect(views.reduce(common) { $0.union(needed(by: $1)) } == Set(assets.map(\.name)))
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

    /// A report of a run and the page show the same things, and have the same colors for them.
    @Test func `the page has the colors of a run's report`() throws {
        let style = String(decoding: try #require(PageAsset.others.first { $0.name == "app.css" }).bytes, as: UTF8.self)
        let schemes = style.split(separator: "@media (prefers-color-scheme: dark)", maxSplits: 1)
        #expect(schemes.count == 2)
        // The page has no bars of figures.
        for color in Palette.colors where color.name != "bar" {
            #expect(schemes.first?.contains("--\(color.name): \(color.light);") == true, "\(color.name)")
            #expect(schemes.last?.contains("--\(color.name): \(color.dark);") == true, "\(color.name)")
        }
    }

    private func ask(_ path: String, _ headers: Headers = [:]) async throws -> APIResponse {
        guard
            case .route(let route, let parameters) = try RouteTable(PageRoutes.all).match("GET", RequestTarget(path))
        else { throw Problem.notFound(path) }
        #expect(route.access == .open)
        return try await route.handler(APIRequest(path: path, parameters: parameters, headers: headers))
    }

    private func bytes(_ response: APIResponse) -> [UInt8]? {
        if case .bytes(let bytes) = response.body { bytes } else { nil }
    }

    @Test func `each file is served with its type, and is asked for each time`() async throws {
        for asset in assets {
            let path = asset == .document ? "/" : "/page/\(asset.name)"
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

    @Test(arguments: ["/page/other.js", "/page/index.html", "/page/", "/page", "/index.html", "/page/app.css/x"])
    func `nothing else is there`(path: String) async throws {
        let problem = await #expect(throws: Problem.self) { try await ask(path) }
        #expect(problem?.status == 404)
    }
}
