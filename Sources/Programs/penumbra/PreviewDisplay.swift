import FoundationEssentials
import Glibc
import JobModel
import Planning
import SafeFiles
import Terminals

/// Where a preview without a name is shown: in the terminal, or else by the path of a temporary file.
struct PreviewDisplay {
    /// The file that the worker writes.
    let path: String
    private let folder: TemporaryFolder
    private let graphics: GraphicsProtocol?

    /// The format of the file. Sixels are made of pixels, and PNG is what other terminals and programs know.
    var format: String { graphics == .sixel ? "ppm" : "png" }

    /// - Throws: ``FarmError`` if there can be no temporary folder.
    init() throws(FarmError) {
        folder = try TemporaryFolder(named: "penumbra-preview", remedy: "name the preview's file by -o")
        graphics =
            Console.outputIsTerminal ? ControllingTerminal.graphics(ProcessInfo.processInfo.environment) : nil
        path = "\(folder.path)/preview.\(graphics == .sixel ? "ppm" : "png")"
    }

    /// The largest file that is sent to a terminal.
    private static let mostBytes = 64 << 20

    /// Shows the file in the terminal. Otherwise the file stays, and the result is false.
    func show() throws(FarmError) -> Bool {
        guard let graphics, let bytes = SafeFolder.trustedContents(path, limit: Self.mostBytes) else {
            folder.keep()
            return false
        }
        let size = ControllingTerminal.size(STDOUT_FILENO)
        switch graphics {
        case .kitty:
            let isWide = Self.width(ofPNG: bytes).map { $0 > size.width } ?? false
            Console.draw(TerminalPicture.kitty(png: bytes, columns: isWide ? size.columns : nil) + "\n", to: .output)
        case .sixel:
            guard let pixmap = Pixmap(file: bytes) else {
                throw FarmError(
                    .unavailable, "the worker wrote another format than PPM\n   = reinstall both programs together")
            }
            // A picture as high as the window would scroll its own upper rows away.
            let fitted = pixmap.fitted(width: size.width, height: size.height * 9 / 10)
            Console.draw(TerminalPicture.sixel(fitted) + "\n", to: .output)
        }
        return true
    }

    /// The width in a PNG's first chunk.
    private static func width(ofPNG bytes: [UInt8]) -> Int? {
        guard bytes.count > 24 else { return nil }
        return bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
    }
}
