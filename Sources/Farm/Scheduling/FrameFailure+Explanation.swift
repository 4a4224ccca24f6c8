extension FrameFailure.Cause {
    /// For people who see the cause for the first time: what it means, and what to do first.
    package var explanation: String {
        switch self {
        case .data:
            "Penumbra cannot read this file as a picture: it is damaged, incomplete, or of another kind. Open it in a viewer. "
                + "Replace it, or leave it out."
        case .value:
            "A value of the manifest does not fit this picture, such as a crop that lies outside of it. Correct the value in the "
                + "manifest, or leave the picture out."
        case .input:
            "The file of the picture was gone, or its disk did not answer, when a worker wanted to read it. Look whether the file "
                + "is there. Then retry."
        case .permission:
            "The user who runs Penumbra may not read the picture, or may not write into the output folder. Change the rights of "
                + "the file or the folder. Then retry."
        case .limit:
            "The picture is larger than a limit allows. The message says which limit it is. If it is a key of the manifest or the "
                + "config, and you trust the picture, raise it. If it is the format of the output, choose another format, or make "
                + "the output smaller. If it cannot be changed, leave the picture out."
        case .crash:
            "The process that worked on the picture crashed, and crashed again in its second try. All other pictures are safe. Look "
                + "at what the worker wrote. A damaged picture is the usual reason."
        case .plugin:
            "A plugin failed while it worked on the picture. Ask its author, and send the message. Without its filter the job can "
                + "run."
        case .outOfMemory:
            "The worker needed more memory than the machine had, or than its sandbox allows. Look at the picture. Then retry "
                + "with fewer workers, or on a machine with more memory."
        case .timeout:
            "The picture took longer than the time limit of the manifest. If it is large, raise 'timeout'. Then retry."
        case .silent:
            "The worker gave no sign of life any more, and Penumbra ended it. Retry. If it happens again, the disk of the picture may not answer."
        case .killed:
            "Somebody or something outside of Penumbra ended the worker again and again. Ask who administers the machine. Then "
                + "retry."
        case .verification:
            "Two calculations of the same picture differed, so Penumbra did not publish it. Retry. If it happens again, test the "
                + "memory and the disk of the machine."
        case .output:
            "Penumbra did not write the output, because a file is there that is not its own, or because the path cannot be used. "
                + "Move that file away, or change 'output' in the manifest."
        case .trouble:
            "Reading or writing failed for a reason that may pass, such as a network disk. Retry. If it happens again, look at the "
                + "disk."
        }
    }
}
