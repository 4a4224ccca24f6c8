package import WorkerProtocol

/// Decodes a worker's reports.
///
/// While a plugin is asked for the geometry of thousands of tiles, a worker sends the same two reports again and again. Such a
/// report is recognized by its bytes, which takes a tenth of the time of decoding it.
package struct ReportDecoder: Sendable {
    /// A report, and its cost in units of ``unitsPerSecond``.
    package struct Decoded: Sendable {
        package let report: Report
        package let units: Int
    }

    /// A core decodes some 70,000 reports a second. A worker gets less than a third of it.
    package static let unitsPerSecond = 200_000
    private static let unitsToDecode = 10
    /// A long report takes as many units as its bytes, divided by this. Otherwise blanks could keep a core busy.
    private static let bytesPerUnit = 100
    private static let longestKept = 1000
    private static let mostKept = 4

    /// The latest short reports. The newest is the last one.
    private var kept: [(body: ArraySlice<UInt8>, report: Report)] = []

    package init() {}

    /// - Throws: ``FrameCodecError`` for what is no report.
    package mutating func decode(_ body: ArraySlice<UInt8>) throws -> Decoded {
        if let known = kept.last(where: { $0.body == body }) { return Decoded(report: known.report, units: 1) }
        let report = try FrameCodec.decode(Report.self, from: body, within: .reports)
        if body.count <= Self.longestKept {
            if kept.count == Self.mostKept { kept.removeFirst() }
            // A copy, because the body shares the buffer that the next bytes are added to.
            kept.append((Array(body)[...], report))
        }
        return Decoded(report: report, units: max(Self.unitsToDecode, body.count / Self.bytesPerUnit))
    }
}
