/// Where ffmpeg is, which reads clips and writes videos. The coordinator tells its workers by a variable of their environment.
public enum VideoProgramPath {
    /// The path of Debian's package.
    public static let usual = "/usr/bin/ffmpeg"
    /// The environment variable.
    public static let variable = "PENUMBRA_FFMPEG"
}
