import CVips
import FoundationEssentials
import Glibc

/// Writes formats that are folders, which libvips fills itself, by the names of files.
struct FolderEncoder {
    let path: String
    /// Of the file in it, without extension.
    let name: String

    /// When anything fails, the folder is removed.
    func run(_ saver: Saver, _ feed: RowFeed, _ format: any ImageFormat) throws {
        guard mkdir(path, 0o777) == 0 else { throw ImageFileError(path: path, .create, errno: errno) }
        do throws(VipsFailure) {
            let call = try VipsCall(saver.operation)
            call.set("in", to: try feed.image(nil))
            // A name of our own: what is like an option or an archive's extension in a picture's would mean something.
            call.set("filename", to: "\(path)/image")
            call.set("container", to: .integer(Int(VIPS_FOREIGN_DZ_CONTAINER_FS.rawValue)))
            for (name, argument) in saver.arguments { call.set(name, to: argument) }
            try call.run()
            unlink("\(path)/image_files/vips-properties.xml")  // the time is in it
        } catch {
            let isFull = isFull()
            remove(path)
            if let reason = feed.failure { throw reason }
            if isFull { throw ImageFileError(path: path, .write, errno: ENOSPC) }
            throw ImageFileError(path: path, .encoder(format: format.title, detail: error.line))
        }
        for ending in [".dzi", "_files"] where rename("\(path)/image\(ending)", "\(path)/\(name)\(ending)") != 0 {
            // libvips says that all is well though it could not create a file.
            let code = errno == ENOENT && isFull() ? ENOSPC : errno
            remove(path)
            throw ImageFileError(path: path, .write, errno: code)
        }
    }

    /// libvips says in words alone what kept it from writing.
    private func isFull() -> Bool {
        var place = statvfs()
        return statvfs(path, &place) == 0 && (place.f_bavail < 16 || place.f_files > 0 && place.f_favail == 0)
    }

    private func remove(_ path: String) {
        // What cannot be removed now is in the run's journal.
        try? FileManager.default.removeItem(atPath: path)
    }
}
