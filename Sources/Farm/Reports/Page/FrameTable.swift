import JobModel

/// Every frame, up to a number that browsers bear well.
struct FrameTable {
    static let cap = 1000

    private let run: RunReport

    init(_ run: RunReport) { self.run = run }

    var section: Section {
        let rows = run.frames.prefix(Self.cap).map(row)
        return Section(
            name: "frames", title: "Frames",
            body: rows.isEmpty
                ? ""
                : """
                \(sentence(shown: rows.count))<table class="frames" role="table">
                \(head)<tbody role="rowgroup">
                \(rows)</tbody>
                </table>

                """)
    }

    /// Said again by roles: where the screen is narrow a row is laid out as a grid, and some browsers then forget that
    /// it is one.
    private var head: Markup {
        """
        <thead role="rowgroup"><tr role="row">\
        <th scope="col" role="columnheader">Picture</th><th scope="col" role="columnheader">State</th>\
        <th scope="col" role="columnheader" class="wide">Size</th><th scope="col" role="columnheader">Output</th>\
        <th scope="col" role="columnheader" class="wide">Time</th></tr></thead>

        """
    }

    private func sentence(shown: Int) -> Markup {
        let total = max(run.counts.frames, run.frames.count)
        guard shown < total else { return "" }
        return """
            <p class="note">The first \(Figures.count(shown)) of \(Figures.count(total)) frames; \
            \(Figures.count(total - shown)) more are not shown.</p>

            """
    }

    private func row(_ frame: FrameRecord) -> Markup {
        let written = frame.outputs.compactMap(\.file?.bytes)
        let ending = frame.state.kind
        return """
            <tr role="row"><th scope="row" role="rowheader">\(.path(frame.input))\(frame.outputs.map(output))</th>\
            <td role="cell"><span class="state \(ending.rawValue)">\(ending.words)</span>\(why(frame.state))</td>\
            <td role="cell" class="wide">\(frame.megapixels.map { "\(Figures.measure($0)) MP" } ?? "")</td>\
            <td role="cell">\(written.isEmpty ? "" : Figures.bytes(written.reduce(0, +)))</td>\
            <td role="cell" class="wide">\(frame.time.map(Figures.duration) ?? "")</td></tr>

            """
    }

    private func output(_ output: ReportedOutput) -> Markup {
        guard let file = output.file else { return "<span class=\"output\">→ \(.path(output.path))</span>" }
        let digest = file.digest.description
        return """
            <span class="output">→ \(.path(output.path)) <span>\(file.width) × \(file.height)</span> \
            <code title="\(attribute: digest)">\(String(digest.prefix(8)))</code></span>
            """
    }

    private func why(_ state: FrameResult) -> Markup {
        switch state {
        case .open, .published, .left: ""
        case .skipped(let reason): "<span class=\"why\">\(reason ?? "")</span>"
        case .kept(let reason): "<span class=\"why\">\(reason)</span>"
        case .failed(let cause, _): "<span class=\"why\">\(cause)</span>"
        case .stillBroken(let since, _): "<span class=\"why\">since \(Figures.day(since))</span>"
        }
    }
}
