package import Catalogs
package import Geometry
import Kernels
package import Raster

/// `run`: gives the whole picture to a program of the settings, and takes what the program returns.
package struct RunFilter: Filter {
    private let command: ProgramCommand
    private let format: ProgramFormat
    private let programs: ProgramSource
    package let masking: MaskOptions?

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "run", kind: .area,
            summary: "Gives the whole picture to another program, and takes the picture that the program returns",
            renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "command", .command([]),
                    summary:
                        "Names a program of the settings, and its arguments. The program reads the picture from its standard input, and "
                        + "writes a picture of the same size to its standard output",
                    requiredLike: #"[denoise, -s, "3"]"#),
                ParameterDescriptor(
                    "format", .choice(ProgramFormat.allCases.map(\.rawValue)),
                    fallback: .word(ProgramFormat.png.rawValue),
                    summary:
                        "Chooses the format of both pictures. 'ppm' has no transparency, and only 'tiff' has floating-point samples"
                ),
            ] + MaskOptions.parameters, rules: MaskOptions.rules(of: MaskOptions.parameters)),
        make: { try RunFilter($0) })

    private init(_ arguments: FilterArguments) throws {
        command = try arguments.command("command")
        format = ProgramFormat(rawValue: try arguments.word("format")) ?? .png
        programs = arguments.programs
        masking = try MaskOptions(arguments)
    }

    package var isIdentity: Bool { false }
    package var edge: Edge { .clamp }
    package var halo: Halo { .none }
    package var isEven: Bool { false }
    package var needsWhole: Bool { true }

    package func extent(of input: PixelRect) -> PixelRect { input }
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { input }
    package func outputLayout(for layout: PixelLayout) -> PixelLayout { layout }
    package func isRowLocal(in input: PixelRect) -> Bool { false }

    package func objection(to layout: PixelLayout, _ samples: SampleFormat) -> String? {
        format.objection(to: layout, samples).map { "the program '\(command.program)': \($0)" }
    }

    /// Nobody knows. Denoising takes about as long.
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { 200 * Double(layout.channels) }

    package func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        let extent = source.extent
        let layout = source.pixels.raster.layout
        if let reason = objection(to: layout, destination.format) {
            throw FilterError(filter: "run", problem: .failed(reason: reason))
        }
        var picture = AnyRaster(zeroed: extent, layout: layout, format: destination.format)
        source.pixels.copyPixels(to: &picture)
        let result = try programs.run(command, format, picture.translated(x: -extent.x, y: -extent.y))
        let placed = result.translated(x: extent.x, y: extent.y)
        guard let mask = masking?.mask(in: extent) else {
            destination = placed.cropped(to: destination.rect)
            return
        }
        Replacement(placed).render(source.pixels, light: .encoded, within: mask, into: &destination)
    }
}
