package import JobModel
import Synchronization

/// What libraries encode files, with their versions.
package enum EncoderVersions {
    private static let known = Mutex<[[String]: String]>([:])

    /// `libvips 8.14.1, libjpeg 62.3.0`. To be asked once a file was written, when all that it needs is loaded.
    package static func text(of format: any ImageFormat, save: SaveOptions) -> String {
        let wanted = format.libraries(for: FormatOptions(save.values, of: format.descriptor))
        return known.withLock { known in
            if let text = known[wanted] { return text }
            let text = (["libvips \(VipsRuntime.version)"] + LoadedLibraries().described(wanted))
                .joined(separator: ", ")
            known[wanted] = text
            return text
        }
    }
}
