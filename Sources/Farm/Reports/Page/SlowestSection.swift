/// Where the time went.
struct SlowestSection {
    static let cap = 10

    private let timed: [(frame: FrameRecord, time: Duration)]

    init(_ frames: [FrameRecord]) {
        timed = frames.compactMap { frame in frame.time.map { (frame, $0) } }.sorted { $0.time > $1.time }
    }

    /// Left out where there is nothing to compare.
    var section: Section {
        guard timed.count > 1, let longest = timed.first?.time, longest > .zero else {
            return Section(name: "slowest", title: "", body: "")
        }
        let rows = timed.prefix(Self.cap).map { frame, time -> Markup in
            """
            <tr><th scope="row">\(.path(frame.input))\
            <span class="bar" aria-hidden="true" style="width:\(percent: time / longest)"></span></th>\
            <td>\(megapixels(frame))</td><td>\(Figures.duration(time))</td></tr>

            """
        }
        return Section(
            name: "slowest", title: "Slowest frames",
            body: """
                <p class="note">Half of the frames took \(Figures.duration(quantile(0.5))) or less, nineteen of twenty \
                \(Figures.duration(quantile(0.95))) or less.</p>
                <table class="bars">
                <thead><tr><th scope="col">Picture</th><th scope="col">Size</th><th scope="col">Time</th></tr></thead>
                <tbody>
                \(rows)</tbody>
                </table>

                """)
    }

    private func megapixels(_ frame: FrameRecord) -> String {
        frame.megapixels.map { "\(Figures.measure($0)) MP" } ?? ""
    }

    /// The time that this share of the frames did not exceed.
    private func quantile(_ share: Double) -> Duration {
        let rank = Int((Double(timed.count) * share).rounded(.up))
        return timed[timed.count - max(1, rank)].time
    }
}
