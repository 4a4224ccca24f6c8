/// The filters of every installation, one line each.
package enum BuiltInFilters {
    package static let all: [FilterEntry] = [
        GaussianFilter.entry,
        MotionFilter.entry,
        BoxFilter.entry,
        DiscFilter.entry,
        SharpenFilter.entry,
        MedianFilter.entry,
        ZoomFilter.entry,
        SpinFilter.entry,
        BilateralFilter.entry,
        VariableFilter.entry,
        MaterialFilter.entry,
        BackdropFilter.entry,
        OverlayFilter.entry,
        CrossfadeFilter.entry,
        MoveFilter.entry,
        ThumbnailFilter.entry,
        ResizeFilter.entry,
        CropFilter.entry,
        RotateFilter.entry,
        FlipFilter.entry,
        FlattenFilter.entry,
    ]
}
