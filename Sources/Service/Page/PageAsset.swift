/// A file of the page, which is part of the program.
package struct PageAsset: Hashable, Sendable {
    /// The name in the folder `Web`, and in addresses.
    package let name: String
    package let bytes: [UInt8]

    /// The page itself. It loads the others.
    package static let document = PageAsset("index.html", PackageResources.index_html)

    /// All files but the document. A new file in the folder `Web` needs a line here.
    package static let others: [PageAsset] = [
        PageAsset("app.css", PackageResources.app_css),
        PageAsset("app.js", PackageResources.app_js),
    ]

    private init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    package var contentType: String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }
}
