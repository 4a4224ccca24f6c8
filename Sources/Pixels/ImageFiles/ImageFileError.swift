/// Why an image file could not be read or written.
package struct ImageFileError: Error, Hashable, Sendable {
    /// What was being done when the system refused.
    package enum Action: String, Hashable, Sendable {
        case open = "opened"
        case read
        case create = "created"
        case write = "written"
        /// A picture that has to be turned upright is held whole, in a scratch file when it is large.
        case turn = "held whole to turn it upright"
    }

    package enum Problem: Hashable, Sendable {
        case missing
        case notAFile
        case permission(Action)
        case empty
        /// The content is of no known format, whatever the name says.
        case notAnImage
        case tooManyPixels(width: Int, height: Int, limit: Int)
        case brokenHeader(format: String, detail: String)
        /// Decoding stopped after `rows` of `height` rows.
        case broken(format: String, rows: Int, height: Int, detail: String)
        /// A format that this machine's libvips was built without.
        case noDecoder(format: String)
        /// A picture that is whole but has what Penumbra does not handle.
        case unsupported(format: String, feature: String, remedy: String? = nil)
        /// Drawing the picture takes more than so many seconds of processor time.
        case slowDrawing(format: String, seconds: Int)
        /// Drawing the picture would clearly take longer than so many seconds, by what its text says.
        case costlyDrawing(format: String, work: String, seconds: Int)
        /// The output is larger than its format can hold.
        case tooLarge(format: String, width: Int, height: Int, largestSide: Int)
        /// The output cannot be stored with these save options.
        case unsuitable(format: String, reason: String)
        /// A save option has no such value.
        case option(format: String, name: String)
        case encoder(format: String, detail: String)
        case system(Action, errno: Int32)
        case library(String)
    }

    /// Whose fault it is, which decides what happens next (invariant 7 of the design).
    package enum Kind: String, Hashable, Sendable {
        /// The picture: trying again changes nothing.
        case data
        /// A save option that does not suit the picture.
        case value
        /// A bound that a setting names.
        case limit
        /// The disk or the file system: full, read-only, over quota, failing.
        case place
        /// This process: it can open no more files or has no more memory, or somebody's code closed the file.
        case process
        case missing
        /// The disk or the server of a file that is to be read does not give it, and may another time.
        case unreadable
        case permission
    }

    package let path: String
    package let problem: Problem

    package init(path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }
}
