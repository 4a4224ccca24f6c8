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
}

/// The memory of a running kernel, and how to create it.
package struct RunningForm {
    /// How many rows of the input it holds. The rows that have just arrived do not count.
    package let rows: Int
    /// An upper bound for the bytes of its own state.
    package let bytes: Int
    /// Creates it. The tables of the input must cover the output with its halo.
    package let make: (ArrivingInput) -> any RunningKernel

    init(rows: Int, bytes: Int, make: @escaping (ArrivingInput) -> any RunningKernel) {
        self.rows = rows
        self.bytes = bytes
        self.make = make
    }

    package func holding(moreRows rows: Int) -> RunningForm {
        RunningForm(rows: self.rows + rows, bytes: bytes, make: make)
    }
}

/// A blur that has a running form for some samples.
package protocol RunningBlur: Blur {
    /// The form that keeps its state from band to band. Its pixels are those of ``Blur/render(_:light:within:into:)``.
    ///
    /// - Returns: nil if there is none for these samples.
    func runningForm(of output: RunningOutput) -> RunningForm?
}

/// Writes 8-bit samples from the rows of an ``ArrivingBytes``.
///
/// One kernel writes all columns. With parts, as in a render of the whole, the part that goes first would ask for many rows before the others
/// have read any, and all of them would be held.
final class RunningBytes: RunningKernel {
    private let bytes: ByteSource
    private let layout: PixelLayout
    private let operations: RowOperations
    private let render: (RowWriter<UInt8>) -> Void

    /// - Parameter make: creates the function that writes the rows of a writer's rectangle.
    init(
        _ input: ArrivingInput, _ output: RunningOutput, _ operations: RowOperations,
        make: (ByteSource) -> (RowWriter<UInt8>) -> Void
    ) {
        bytes = ByteSource(input, wanted: output.rect.columns)
        layout = output.layout
        self.operations = operations
        render = make(bytes)
    }

    func render(into destination: inout AnyRaster) throws {
        guard case .u8(var target) = destination.take(), target.layout == layout else {
            preconditionFailure("8-bit samples of one layout")
        }
        let rect = target.rect
        if !rect.isEmpty {
            target.samples.withMutableRow { samples in
                let writer = RowWriter<UInt8>(samples, rect: rect, layout: layout, operations)
                render(writer)
                writer.finish()
            }
        }
        destination = .u8(target)
        if let failure = bytes.failure { throw failure }
    }
}
