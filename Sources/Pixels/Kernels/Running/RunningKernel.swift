package import Catalogs
package import Geometry
package import Raster

/// A kernel that writes a picture from the top down while its input arrives. It keeps its state between two calls, so that no row is
/// computed twice, and few rows of the input are held.
///
/// One thread at a time may use it.
package protocol RunningKernel: AnyObject {
    /// Writes every pixel of `destination`, the complete rows below those of the previous call. It asks for the rows of the input that it
    /// needs.
    ///
    /// - Throws: the error of the input.
    func render(into destination: inout AnyRaster) throws

    /// The most rows of the input that it has held; see ``RunningForm/rows``.
    var heldRows: Int { get }
}

/// What a running kernel writes.
package struct RunningOutput {
    /// The rectangle of all rows.
    let rect: PixelRect
    /// The layout of the output, which is the input's or adds alpha to it.
    let layout: PixelLayout
    let format: SampleFormat
    let light: Light

    package init(rect: PixelRect, layout: PixelLayout, format: SampleFormat, light: Light) {
        self.rect = rect
        self.layout = layout
        self.format = format
        self.light = light
    }

    /// Whether the loops for whole 16-bit samples apply; see ``KernelSource/isWholeWords(_:_:)``.
    var isWholeWords: Bool { format == .u16 && light == .encoded && !layout.hasAlpha }
}

/// The memory of a running kernel, and how to create it.
package struct RunningForm {
    /// The most rows of the input that it holds. Those that have arrived last do not count.
    package let rows: Int
    /// The most rows that it reads before an output row needs them. What an output row needs are the rows of the blur's halo.
    package let rowsAhead: Int
    /// How often the rows that have arrived last are held, at most. Bands that are not copied count twice: one that has arrived, and one with
    /// some rows that are still needed.
    package let copies: Int
    /// An upper bound for the bytes of its own state.
    package let bytes: Int
    /// Creates it. The tables of the input must cover the output with its halo.
    package let make: (ArrivingInput) -> any RunningKernel

    init(
        rows: Int, rowsAhead: Int = 64, copies: Int = 1, bytes: Int,
        make: @escaping (ArrivingInput) -> any RunningKernel
    ) {
        self.rows = rows
        self.rowsAhead = rowsAhead
        self.copies = copies
        self.bytes = bytes
        self.make = make
    }

    package func holding(moreRows rows: Int) -> RunningForm {
        RunningForm(rows: self.rows + rows, rowsAhead: rowsAhead, copies: copies, bytes: bytes, make: make)
    }
}

/// A blur that has a running form for some samples.
package protocol RunningBlur: Blur {
    /// The form that keeps its state from band to band. Its pixels are those of ``Blur/render(_:light:within:into:)``.
    ///
    /// If that blends working values with the originals (see ``WorkingKernel``), the form makes a ``RunningFloats``.
    ///
    /// - Returns: nil if there is none for these samples.
    func runningForm(of output: RunningOutput) -> RunningForm?
}

/// Writes 8-bit samples while they arrive.
///
/// One kernel writes all columns. With parts, as in a render of the whole, the part that goes first would ask for many rows before the others
/// have read any, and all of them would be held.
final class RunningBytes: RunningKernel {
    private let source: ByteSource
    private let layout: PixelLayout
    private let operations: RowOperations
    private let render: (RowWriter<UInt8>) -> Void

    /// - Parameter make: creates the function that writes the rows of a writer's rectangle.
    init(
        _ input: ArrivingInput, _ output: RunningOutput, _ operations: RowOperations,
        make: (ByteSource) -> (RowWriter<UInt8>) -> Void
    ) {
        source = ByteSource(input, wanted: output.rect.columns)
        layout = output.layout
        self.operations = operations
        render = make(source)
    }

    var heldRows: Int { source.heldRows }

    func render(into destination: inout AnyRaster) throws {
        precondition(destination.layout == layout, "all bands have one layout")
        destination.writeBytes(operations, render)
        if let failure = source.failure { throw failure }
    }
}

/// Writes 16-bit samples while they arrive; see ``RunningBytes``.
final class RunningWords: RunningKernel {
    private let source: WordSource
    private let layout: PixelLayout
    private let operations: RowOperations
    private let render: (RowWriter<UInt16>) -> Void

    /// - Parameter make: creates the function that writes the rows of a writer's rectangle.
    init(
        _ input: ArrivingInput, _ output: RunningOutput, _ operations: RowOperations,
        make: (WordSource) -> (RowWriter<UInt16>) -> Void
    ) {
        source = WordSource(input)
        layout = output.layout
        self.operations = operations
        render = make(source)
    }

    var heldRows: Int { source.heldRows }

    func render(into destination: inout AnyRaster) throws {
        precondition(destination.layout == layout, "all bands have one layout")
        destination.writeWords(operations, render)
        if let failure = source.failure { throw failure }
    }
}

/// Writes working values while they arrive.
final class RunningFloats: RunningKernel {
    private let bands: ArrivingBands
    private let light: Light
    private let curve: TransferCurve
    private let row: (Int) -> PlaneRow

    /// - Parameter make: creates the function that returns the rows of the output, which are asked for from the top down.
    init(_ input: ArrivingInput, _ output: RunningOutput, make: (ArrivingBands) -> (Int) -> PlaneRow) {
        bands = ArrivingBands(input, layout: output.layout, light: output.light)
        light = output.light
        curve = input.curve
        row = make(bands)
    }

    var heldRows: Int { bands.heldRows }

    func render(into destination: inout AnyRaster) throws {
        let rows = destination.rect.rows
        var sink = PixelWriter(destination.take(), light: light, curve: curve)
        try write(rows, to: &sink)
        destination = sink.raster
    }

    /// Writes the next rows to any sink.
    func write(_ rows: Range<Int>, to sink: inout some WorkingRowSink) throws {
        for y in rows { sink.write(row(y)) }
        if let failure = bands.failure { throw failure }
    }
}
