extension JobProblem {
    /// Of the problems with `animate`.
    var animationWords: Words {
        switch self {
        case .notOneAnimation(let offered):
            Words(
                "'animate' takes one animation: \(offered.enumeration)",
                remedy: "write it with its parameters: animate: {crossfade: {duration: 0.2}}")
        case .unknownAnimation(let name, let isFilter, let nearest, let offered):
            Words(
                isFilter ? "'\(name)' is a filter, and makes no frames" : "there is no animation \(name.quoted)",
                remedy: (isFilter ? "write it under 'filters:'; " : nearest.map { "did you mean '\($0)'? " } ?? "")
                    + "'animate' takes \(offered.enumeration)")
        case .belongsUnderAnimate(let name):
            Words("'\(name)' is an animation", remedy: "write it under 'animate:', as animate: {\(name): …}")
        case .nothingToFade(let behind):
            Words(
                behind.map {
                    "'crossfade' fades in the filters behind '\($0)', which changes the size, and there are none"
                }
                    ?? "'crossfade' fades in filters, and there are none",
                remedy: "write them under 'filters:': - gaussian: {radius: 12}")
        case .frameInSomeNames:
            Words(
                "other outputs have '{frame}' in their names, and this one does not",
                remedy: "write it into all names, for a picture of each frame, or into none")
        case .holdsNoAnimation(let known):
            Words(
                "this output can hold no animation",
                remedy: "write one as \(known.enumeration), or a picture of each frame: out/{stem}-{frame:04}.png")
        case .tooManyFrames(let format, let fps, let most):
            Words(
                "\(fps) frames a second are more than the \(most) that \(format) can show",
                remedy: "write fps: \(most), or less")
        case .tooLongAnimation(let frames, let most):
            Words(
                "'duration' and 'fps' make \(frames) frames; an animation has at most \(most)",
                remedy: "make it shorter, or show fewer frames a second")
        case .tooManyToFade(let given, let count, let behind):
            Words(
                "'filters: \(given)' is more than the \(counted(count, "filter")) "
                    + (behind.map { "behind '\($0)', which changes the size" }
                        ?? "that there \(count == 1 ? "is" : "are")"),
                remedy: "write filters: \(count), or nothing")
        case .frameOfSingle:
            Words(
                "a single frame is made, and '{frame}' stands for each of several",
                remedy: "leave '{frame}' out of the name, or 'frame' out of the animation")
        default:
            Words(
                "this installation makes no animations", remedy: "install penumbra and penumbra-worker of one version")
        }
    }
}
