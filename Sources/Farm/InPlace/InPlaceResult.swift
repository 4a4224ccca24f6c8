import Glibc
package import JobModel
package import Planning
import SafeFiles

/// What became of one picture.
package struct InPlaceResult: Sendable {
    package enum Outcome: Sendable {
        /// - Parameter older: originals of earlier times, which are kept, too.
        case blurred(older: [StoredOriginal])
        case alreadyBlurred(StoredOriginal)
        /// It was blurred with other filters than those that are wanted now, and is left as it is.
        case blurredOtherwise(StoredOriginal)
        /// - Parameters:
        ///   - edited: it was neither blurred nor there; `--force` was given.
        ///   - missing: what the original had, and could not be had again.
        ///   - older: originals of earlier times, which stay.
        ///   - isKept: the original itself stays, too, since it is that of a picture at another path.
        case unblurred(edited: Bool, missing: [String], older: [StoredOriginal], isKept: Bool)
        case notBlurred
        /// It was edited after it had been blurred, and is left as it is.
        case edited(StoredOriginal)
        /// Nothing is there; the original of what was there, if one is kept.
        case gone(StoredOriginal?)
        /// The same of a picture of a folder: its user has removed it since it was blurred.
        case removed(StoredOriginal)
        /// Found in a folder, and nothing that could be blurred in place.
        case skipped(reason: String)
        case refused(reason: String)
        /// Somebody else writes to its folder.
        case busy
        /// The place is not fit.
        case unfit(message: String)
        /// Left because the command was stopped.
        case left
    }

    package let picture: InputFile
    package let outcome: Outcome
    /// What was made of it is not quite what it is.
    package let conversions: Set<InPlaceConversion>

    package init(_ picture: InputFile, _ outcome: Outcome, conversions: Set<InPlaceConversion> = []) {
        (self.picture, self.outcome, self.conversions) = (picture, outcome, conversions)
    }
}

/// A picture of a command line.
package struct RequestedPicture: Hashable, Sendable {
    package let picture: InputFile
    /// Whether it was named itself, and not a folder that it is in.
    package let isNamed: Bool
    /// Its folder as it was found: nothing is done in another one. Nil where it was not there.
    package let folder: FileStamp.Identity?

    package init(_ picture: InputFile, isNamed: Bool, folder: FileStamp.Identity?) {
        (self.picture, self.isNamed, self.folder) = (picture, isNamed, folder)
    }

    package init(_ found: PictureSearch.Picture) {
        self.init(found.file, isNamed: found.isNamed, folder: found.folder)
    }
}

/// Where what is made of a picture is of another kind.
package enum InPlaceConversion: Hashable, Sendable, CaseIterable {
    /// A picture in CMYK becomes one in sRGB.
    case cmyk
    /// A picture in Lab becomes one in RGB.
    case lab
    /// Samples of 64 bits become samples of 32.
    case doubles
    /// A gray, or black and white, portable map becomes one of three channels (P6), whatever its name says.
    case grayMap
    /// Of a file with several pictures, as phones make them, the first alone is left.
    case furtherPictures
}

/// Why nothing is done with a picture.
struct InPlaceTrouble: Error {
    let outcome: InPlaceResult.Outcome
    /// What no other picture could be helped by either.
    let place: FileTrouble?

    init(outcome: InPlaceResult.Outcome) { (self.outcome, place) = (outcome, nil) }

    /// A folder that is read-only, or in which this user may not write, is a place that is not fit, as a full disk is.
    init(_ trouble: FileTrouble) {
        outcome =
            switch trouble.code {
            // A time that cannot be kept is the picture's own.
            case EOVERFLOW: .refused(reason: trouble.message)
            case OriginalStore.busyCode: .busy
            default: .unfit(message: trouble.message)
            }
        // A bad sector, or a server that lost a folder, says nothing of the other pictures.
        place = trouble.isPlace && ![EIO, ESTALE].contains(trouble.code) ? trouble : nil
    }

    static func refused(_ reason: String) -> InPlaceTrouble { InPlaceTrouble(outcome: .refused(reason: reason)) }

    static let changed = refused("changed meanwhile; left as it is")

    /// Does what may meet trouble with files.
    static func on<Result>(_ body: () throws(FileTrouble) -> Result) throws(InPlaceTrouble) -> Result {
        do throws(FileTrouble) {
            return try body()
        } catch {
            throw InPlaceTrouble(error)
        }
    }
}
