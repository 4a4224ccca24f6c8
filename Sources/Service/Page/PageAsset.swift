import Reports

/// A file of the page, which is part of the program.
package struct PageAsset: Hashable, Sendable {
    /// The name in addresses. The files are in the folder `Web`, but ``looks`` is not.
    package let name: String
    package let bytes: [UInt8]
    /// The same, compressed. Nil if that would not be shorter.
    package let gzip: [UInt8]?

    /// The page itself. It loads the others.
    package static let document = PageAsset("index.html", PackageResources.index_html)

    /// The looks that the page shares with reports of runs, which a lower module makes.
    package static let looks = PageAsset("looks.css", Looks.shared)

    /// All files but the document. A new file in the folder `Web` needs a line here.
    package static let others: [PageAsset] = [
        PageAsset("api.js", PackageResources.api_js),
        PageAsset("app.css", PackageResources.app_css),
        PageAsset("compare.js", PackageResources.compare_js),
        PageAsset("dom.js", PackageResources.dom_js),
        PageAsset("editor.js", PackageResources.editor_js),
        PageAsset("errors.js", PackageResources.errors_js),
        PageAsset("farm.js", PackageResources.farm_js),
        PageAsset("frame.js", PackageResources.frame_js),
        PageAsset("icon.svg", PackageResources.icon_svg),
        PageAsset("jobs.js", PackageResources.jobs_js),
        PageAsset("kept.js", PackageResources.kept_js),
        PageAsset("list.js", PackageResources.list_js),
        looks,
        PageAsset("live.js", PackageResources.live_js),
        PageAsset("main.js", PackageResources.main_js),
        PageAsset("map.js", PackageResources.map_js),
        PageAsset("pictures.js", PackageResources.pictures_js),
        PageAsset("queue.js", PackageResources.queue_js),
        PageAsset("run.js", PackageResources.run_js),
        PageAsset("runs.js", PackageResources.runs_js),
        PageAsset("schedules.js", PackageResources.schedules_js),
        PageAsset("submit.js", PackageResources.submit_js),
        PageAsset("thumbs.js", PackageResources.thumbs_js),
        PageAsset("words.js", PackageResources.words_js),
        PageAsset("workers.js", PackageResources.workers_js),
    ]

    private init(_ name: String, _ source: [UInt8]) {
        self.name = name
        bytes = name.hasSuffix(".js") ? Self.withoutCommentLines(source) : source
        let bytes = bytes
        gzip = GzipFile.compressed(bytes).flatMap { $0.count < bytes.count ? $0 : nil }
    }

    /// The script with empty lines in place of those that are a whole comment. So it is sent faster, and the numbers of its lines
    /// stay. A comment of several lines, and one behind code, stays as it is.
    static func withoutCommentLines(_ script: [UInt8]) -> [UInt8] {
        let lines = script.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            let text = line.drop { $0 == UInt8(ascii: " ") }
            let isComment =
                text.starts(with: Array("//".utf8))
                || text.starts(with: Array("/**".utf8)) && text.suffix(2).elementsEqual("*/".utf8)
            return isComment ? [] : line
        }
        return Array(lines.joined(separator: CollectionOfOne(UInt8(ascii: "\n"))))
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
