package import Catalogs
package import Raster

/// The form in which a program gets a picture on its standard input, and returns one on its standard output.
package enum ProgramFormat: String, Hashable, Sendable, CaseIterable {
    case png
    case tiff
    /// PPM, or PGM for a gray picture.
    case ppm

    /// Why it cannot hold such pixels, as the end of a sentence. Nil if it can.
    func objection(to layout: PixelLayout, _ samples: SampleFormat) -> String? {
        if samples == .f32, self != .tiff {
            return
                "\(rawValue) has no floating-point samples, and the filters of this picture have; write 'format: tiff'"
        }
        guard layout.hasAlpha, self == .ppm else { return nil }
        return "ppm has no transparency, and this picture has; write 'format: png', or 'flatten' before"
    }
}

/// Runs programs for filters. Filters do not start processes themselves.
package struct ProgramSource: Sendable {
    /// Returns a picture of the same shape. The rectangles of both begin at 0, 0.
    package typealias Run =
        @Sendable (_ command: ProgramCommand, _ format: ProgramFormat, _ picture: AnyRaster) throws -> AnyRaster

    let run: Run

    package init(run: @escaping Run) { self.run = run }

    /// The source for chains that are not rendered.
    package static let none = ProgramSource { command, _, _ in
        throw FilterError(
            filter: "run", problem: .failed(reason: "the program '\(command.program)' cannot be run here"))
    }
}
