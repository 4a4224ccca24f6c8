import CPenumbraPlugin
import Geometry
import Glibc
import GuardedMemory

/// Renders parts of test pictures with the plugin.
struct Trial {
    let subject: Subject
    let picture: TestPicture
    let kind: SampleKind
    let values: [Double]
    var isCancelled = false
    /// The frame of an animation.
    var frame: Int64 = 0

    /// The largest halo that is tested. Values with larger halos are skipped.
    private static let widestHalo = 600

    var title: String { "\(kind) \(picture.title)" }

    /// What the filter is asked for: a tile, what it may read for it, the samples, and the values.
    func words(_ area: PixelRect) -> String {
        let read = subject.needed(for: area, in: picture.extent, values)
        let facts = ["it asked for \(read.words)", title] + [subject.words(values)].compactMap { $0 }
        return "the tile \(area.words) (\(facts.joined(separator: "; ")))"
    }

    var extent: PixelRect { subject.extent(of: picture.extent, values) }

    /// The result of a call.
    struct Result {
        let status: Int32
        let message: String
        let keepsMode: Bool
        /// The target's rows, one after the other.
        let bytes: [UInt8]
    }

    /// The output's bytes. Throws ``BreachError`` if the plugin fails.
    func output(_ area: PixelRect, unwritten: UInt8 = 0, around: OutsideSamples = OutsideSamples()) throws -> [UInt8] {
        let result = try render(area, unwritten: unwritten, around: around)
        guard result.status == PENUMBRA_OK else {
            throw BreachError("it fails on \(title), \(area): status \(result.status), \"\(result.message)\"")
        }
        return result.bytes
    }

    /// The memory around the pixels that the filter may read. Behind it is a forbidden page.
    struct OutsideSamples {
        /// How many pixels there are on each side.
        var margin = 0
        /// The value of their bytes, and of those between rows.
        var pattern: UInt8 = 0xA5
        /// Other bytes on one side, at more than a distance.
        var far: (side: Side, distance: Int, pattern: UInt8)?
    }

    enum Side: String, CaseIterable {
        case left, right, above, below
    }

    /// - Parameters:
    ///   - unwritten: the initial value of the target's bytes.
    ///   - around: what is around the source's pixels.
    func render(_ area: PixelRect, unwritten: UInt8 = 0, around: OutsideSamples = OutsideSamples()) throws -> Result {
        let read = subject.needed(for: area, in: picture.extent, values)
        guard read.width <= area.width + 2 * Self.widestHalo, read.height <= area.height + 2 * Self.widestHalo else {
            throw InapplicableError("its halo of these values is too large to try")
        }
        let (from, to) = (try GuardedRows(), try GuardedRows())
        from.pattern = around.pattern
        let margin = around.margin
        let pixelBytes = picture.channels * kind.bytes
        try from.reshape(rows: read.height + 2 * margin, rowBytes: (read.width + 2 * margin) * pixelBytes)
        try to.reshape(rows: area.height, rowBytes: area.width * pixelBytes)
        fill(from, read, around)
        for row in 0..<area.height { memset(to.row(row), Int32(unwritten), to.rowBytes) }
        var message = [CChar](repeating: 0, count: 1024)
        let start = from.row(margin) + margin * pixelBytes
        let source = penumbra_source(data: start, row_bytes: Int64(from.pitch), rect: penumbra_rect(read))
        let (status, keepsMode) = FloatingPointMode.kept { call(source, to, area, &message) }
        if let damage = to.damage() ?? from.damage() { throw BreachError("it writes outside of its tile (\(damage))") }
        let bytes = (0..<area.height).flatMap { UnsafeRawBufferPointer(start: to.row($0), count: to.rowBytes) }
        let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return Result(status: status, message: text, keepsMode: keepsMode, bytes: bytes)
    }

    private func call(
        _ source: penumbra_source, _ to: GuardedRows, _ area: PixelRect, _ message: inout [CChar]
    ) -> Int32 {
        let room = message.count
        return message.withUnsafeMutableBufferPointer { error in
            values.withUnsafeBufferPointer { values in
                var tile = penumbra_tile(
                    struct_size: UInt32(MemoryLayout<penumbra_tile>.size), format: kind.flag,
                    channels: Int32(picture.channels), has_alpha: picture.hasAlpha ? 1 : 0,
                    image: penumbra_rect(picture.extent),
                    source: source,
                    target: penumbra_target(data: to.start, row_bytes: Int64(to.pitch), rect: penumbra_rect(area)),
                    values: values.baseAddress, is_cancelled: isCancelled ? Self.yes : Self.no, context: nil,
                    error: error.baseAddress, error_capacity: room, frame: frame)
                return subject.calling.around(words(area)) { subject.plugin.render?(&tile) ?? -1 }
            }
        }
    }

    private static let yes: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { _ in 1 }
    private static let no: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { _ in 0 }

    private func fill(_ rows: GuardedRows, _ read: PixelRect, _ around: OutsideSamples) {
        let margin = around.margin
        if margin > 0 { surround(rows, around) }
        for (index, y) in read.rows.enumerated() {
            var address = rows.row(margin + index) + margin * picture.channels * kind.bytes
            for x in read.columns {
                for channel in 0..<picture.channels {
                    picture.store(x, y, channel, kind, isMultiplied: !subject.isPoint, to: address)
                    address += kind.bytes
                }
            }
        }
    }

    /// Fills the margins, and what is between them for now.
    private func surround(_ rows: GuardedRows, _ around: OutsideSamples) {
        for row in 0..<rows.rows { memset(rows.row(row), Int32(around.pattern), rows.rowBytes) }
        guard let far = around.far else { return }
        let width = around.margin - far.distance
        let bytes = width * picture.channels * kind.bytes
        for row in 0..<rows.rows {
            let start = rows.row(row)
            switch far.side {
            case .left: memset(start, Int32(far.pattern), bytes)
            case .right: memset(start + rows.rowBytes - bytes, Int32(far.pattern), bytes)
            case .above: if row < width { memset(start, Int32(far.pattern), rows.rowBytes) }
            case .below: if row >= rows.rows - width { memset(start, Int32(far.pattern), rows.rowBytes) }
            }
        }
    }

    /// The input's own bytes.
    func input() throws -> [UInt8] {
        let rows = try GuardedRows()
        try rows.reshape(rows: picture.extent.height, rowBytes: picture.extent.width * picture.channels * kind.bytes)
        fill(rows, picture.extent, OutsideSamples())
        return (0..<rows.rows).flatMap { UnsafeRawBufferPointer(start: rows.row($0), count: rows.rowBytes) }
    }
}

/// Ordinary threads, as in a worker.
enum Threads {
    /// Runs the same body on several threads, and waits for all.
    static func run(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        let threads = (0..<count).compactMap { _ in start(body) }
        for thread in threads { pthread_join(thread, nil) }
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        if code == 0 { return thread }
        work.release()
        body()
        return nil
    }
}

/// The CPU's rounding mode, exception masks and treatment of denormal numbers.
enum FloatingPointMode {
    /// Runs code that may change the mode, restores it, and returns whether it was changed.
    static func kept<Result>(_ body: () -> Result) -> (Result, isKept: Bool) {
        var before = fenv_t()
        fegetenv(&before)
        let result = body()
        var after = fenv_t()
        fegetenv(&after)
        fesetenv(&before)
        return (result, before.mode == after.mode)
    }
}

extension fenv_t {
    /// The mode without the flags that arithmetic sets.
    fileprivate var mode: [UInt32] {
        #if arch(x86_64)
            [UInt32(__control_word), __mxcsr & ~0x3f]
        #else
            [UInt32(truncatingIfNeeded: fegetround())]
        #endif
    }
}
