import Glibc
package import JobModel
package import Planning
import SafeFiles

/// The result for one picture.
package struct InPlaceResult: Sendable {
    package enum Outcome: Sendable {
        /// - Parameter older: older originals, which are kept, too.
        case blurred(older: [StoredOriginal])
        case alreadyBlurred(StoredOriginal)
        /// It was blurred with other filters, and was left unchanged.
        case blurredOtherwise(StoredOriginal)
        /// - Parameters:
        ///   - edited: whether the path had an edited picture or none, and `--force` was given.
        ///   - missing: attributes of the original that could not be restored.
        ///   - older: older originals, which are kept.
        ///   - isKept: whether the original is kept, too, because it belongs to a picture at another path.
        case unblurred(edited: Bool, missing: [String], older: [StoredOriginal], isKept: Bool)
        case notBlurred
        /// It was edited after it was blurred, and was left unchanged.
        case edited(StoredOriginal)
        /// Nothing is at the path. The value is the original of the former picture, if one is kept.
        case gone(StoredOriginal?)
        /// The same for a picture that was found by its folder: its user removed it after it was blurred.
        case removed(StoredOriginal)
        /// It was found in a folder and cannot be blurred in place.
        case skipped(reason: String)
        case refused(reason: String)
        /// Another run or command writes in its folder.
        case busy
        /// The disk or the folder cannot be used.
        case unfit(message: String)
        /// It was not reached before the command was stopped.
        case left
    }

    package let picture: InputFile
    package let outcome: Outcome
    /// The ways in which the result differs in kind from the picture.
    package let conversions: Set<InPlaceConversion>

    package init(_ picture: InputFile, _ outcome: Outcome, conversions: Set<InPlaceConversion> = []) {
        (self.picture, self.outcome, self.conversions) = (picture, outcome, conversions)
    }
}

/// A picture that a command line asks for.
package struct RequestedPicture: Hashable, Sendable {
    package let picture: InputFile
    /// Whether it was named itself. Otherwise it was found in a folder.
    package let isNamed: Bool
    /// The identity of its folder. Nothing is changed in another folder at the same path. Nil if there was no
    /// folder.
    package let folder: FileStamp.Identity?

    package init(_ picture: InputFile, isNamed: Bool, folder: FileStamp.Identity?) {
        (self.picture, self.isNamed, self.folder) = (picture, isNamed, folder)
    }

    package init(_ found: PictureSearch.Picture) {
        self.init(found.file, isNamed: found.isNamed, folder: found.folder)
    }
}

/// A difference in kind between a picture and its result.
package enum InPlaceConversion: Hashable, Sendable, CaseIterable {
    /// A picture in CMYK becomes one in sRGB.
    case cmyk
    /// A picture in Lab becomes one in RGB.
    case lab
    /// Samples of 64 bits become samples of 32.
    case doubles
    /// A portable map in gray or black and white becomes one of three channels (P6), whatever its name is.
    case grayMap
    /// A file with several pictures, as phones write them, keeps only the first.
    case furtherPictures
}

/// Why a picture is not changed.
struct InPlaceError: Error {
    let outcome: InPlaceResult.Outcome
    /// An error of the disk or the machine, which other pictures would meet, too.
    let storageError: FileError?

    init(outcome: InPlaceResult.Outcome) { (self.outcome, storageError) = (outcome, nil) }

    /// A folder that is read-only or forbidden to this user is as unusable as a full disk.
    init(_ trouble: FileError) {
        outcome =
            switch trouble.code {
            // A time that cannot be stored concerns this picture alone.
            case EOVERFLOW: .refused(reason: trouble.message)
            case OriginalStore.busyCode: .busy
            default: .unfit(message: trouble.message)
            }
        // A bad sector, or a folder that a server lost, does not concern other pictures.
        storageError = trouble.concernsStorage && ![EIO, ESTALE].contains(trouble.code) ? trouble : nil
    }

    static func refused(_ reason: String) -> InPlaceError { InPlaceError(outcome: .refused(reason: reason)) }

    static let changed = refused("changed meanwhile; left as it is")

    /// Calls `body` and converts its errors.
    static func on<Result>(_ body: () throws(FileError) -> Result) throws(InPlaceError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            throw InPlaceError(error)
        }
    }
}
