package import Planning

/// What became of one picture.
package struct InPlaceResult: Sendable {
    package enum Outcome: Sendable {
        /// - Parameter older: originals of earlier times, which are kept, too.
        case blurred(older: [StoredOriginal])
        case alreadyBlurred(StoredOriginal)
        /// - Parameters:
        ///   - edited: it was neither blurred nor there; `--force` was given.
        ///   - missing: what the original had, and could not be had again.
        ///   - older: originals of earlier times, which stay.
        case unblurred(edited: Bool, missing: [String], older: [StoredOriginal])
        case notBlurred
        /// It was edited after it had been blurred, and is left as it is.
        case edited(StoredOriginal)
        /// Nothing is there; the original of what was there, if one is kept.
        case gone(StoredOriginal?)
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
    /// It was in CMYK, and what was made of it is in sRGB.
    package let wasCMYK: Bool

    package init(_ picture: InputFile, _ outcome: Outcome, wasCMYK: Bool = false) {
        (self.picture, self.outcome, self.wasCMYK) = (picture, outcome, wasCMYK)
    }
}

/// A picture of a command line.
package struct WantedPicture: Hashable, Sendable {
    package let picture: InputFile
    /// Whether it was named itself, and not a folder that it is in.
    package let isNamed: Bool

    package init(_ picture: InputFile, isNamed: Bool) { (self.picture, self.isNamed) = (picture, isNamed) }
}
