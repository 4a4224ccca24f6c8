package import SafeFiles
package import ServiceAPI

/// The ID of a service, which tells it from all others for as long as its folder exists.
///
/// Browsers send a cookie to every service of a host, whatever its port or its path behind a proxy is. So the name of each
/// service's cookie has its ID.
package enum ServiceIdentity {
    private static let letters = Set("0123456789abcdefghijklmnopqrstuvwxyz")
    private static let longest = 16

    /// Reads the ID from the folder. A folder without one, or with a file that is none, gets a new one.
    ///
    /// The caller holds the lock of the folder.
    package static func id(
        in folder: ServiceFolder, using generator: inout some RandomNumberGenerator
    ) throws(FileError) -> String {
        if let bytes = SafeFolder.trustedContents(folder.identity, limit: 2 * longest) {
            let text = String(decoding: bytes, as: UTF8.self)
            let id = text.hasSuffix("\n") ? String(text.dropLast()) : text
            if !id.isEmpty, id.count <= longest, id.allSatisfy(letters.contains) { return id }
        }
        let id = String(UInt64.random(in: .min ... .max, using: &generator), radix: 36)
        let place = try SafeFolder(folder.path)
        let (name, new) = ("service.id", "service.id.new")
        // A service that was killed may have left it.
        try? place.remove(new)
        try place.create(new, Array("\(id)\n".utf8), mode: 0o600, syncs: true)
        try place.rename(new, as: name)
        return id
    }
}
