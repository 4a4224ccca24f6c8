import ExamplePictures
import Foundation
import Raster
import Testing

/// A real browser that looks at a page of a workspace.
struct Chromium {
    let workspace: Workspace

    private static let names = ["chromium", "chromium-browser", "google-chrome"]

    /// A page as the browser understood it.
    struct Page {
        /// The elements, written out again.
        let document: String
        /// What the browser has to complain of: scripts, or requests that the page's policy forbids.
        let complaints: [String]
    }

    func open(_ name: String) async throws -> Page {
        let result = try await run(name, ["--dump-dom", "--enable-logging=stderr"])
        return Page(
            document: result.output,
            complaints: result.errors.split(separator: "\n").map(String.init).filter { $0.contains("CONSOLE") })
    }

    /// The page's upper part as it looks.
    func picture(of name: String, width: Int, height: Int, dark: Bool = false) async throws -> AnyRaster {
        let path = "\(workspace.path)/screenshot.png"
        _ = try await run(
            name,
            [
                "--screenshot=\(path)", "--window-size=\(width),\(height)", "--hide-scrollbars",
                "--blink-settings=preferredColorScheme=\(dark ? 0 : 1)",
            ])
        return try PictureFiles.read(path)
    }

    private func run(_ name: String, _ options: [String]) async throws -> Program.Result {
        let program = Self.names.map { "/usr/bin/\($0)" }.first(where: FileManager.default.isExecutableFile)
        let path = try #require(program, "the test needs the Debian package chromium")
        // Its sandbox refuses to start as root, and the page is our own.
        let common = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--timeout=120000",
            "--user-data-dir=\(workspace.path)/chromium",
        ]
        let result = try await Program.run(
            path, common + options + ["file://\(workspace.path)/\(name)"], in: workspace)
        try #require(result.code == 0, "\(result.errors)")
        return result
    }
}
