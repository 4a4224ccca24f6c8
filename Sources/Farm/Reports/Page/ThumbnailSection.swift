import JobModel

/// Pictures before and after, side by side.
struct ThumbnailSection {
    /// Pairs on a page; they are most of its bytes.
    static let cap = 60

    private let frames: [FrameRecord]

    init(_ frames: [FrameRecord]) {
        self.frames = frames.filter { $0.before != nil || $0.after != nil }
    }

    var section: Section {
        let figures = frames.prefix(Self.cap).map(figure)
        let rest = frames.count - figures.count
        let more: Markup = rest > 0 ? "<p class=\"note\">And \(Figures.count(rest)) more.</p>\n" : ""
        return Section(
            name: "pictures", title: "Before and after",
            body: figures.isEmpty ? "" : "<div class=\"pairs\">\n\(figures)</div>\n\(more)")
    }

    private func figure(_ frame: FrameRecord) -> Markup {
        """
        <figure>
        <div class="pair">\(side(frame.before, "before", frame))\(side(frame.after, "after", frame))</div>
        <figcaption>\(.path(frame.input)) <span>\(caption(frame))</span></figcaption>
        </figure>

        """
    }

    private func side(_ thumbnail: Thumbnail?, _ when: String, _ frame: FrameRecord) -> Markup {
        guard let thumbnail else { return "<span class=\"none\">nothing \(when)</span>" }
        return .image(thumbnail, alt: "\(frame.input), \(when)")
    }

    private func caption(_ frame: FrameRecord) -> String {
        guard let file = frame.outputs.first?.file else { return frame.state.kind.words }
        return "\(file.width) × \(file.height), \(Figures.bytes(file.bytes))"
    }
}
