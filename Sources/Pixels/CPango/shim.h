#pragma once
#include <fontconfig/fontconfig.h>
#include <hb.h>
#include <pango/pangofc-fontmap.h>
#include <pango/pangoft2.h>

// What Swift cannot reach by itself: casts between the classes of Pango, and a function of HarfBuzz that has had two names.

// A map of the fonts of a configuration and no others, whose sizes are pixels.
static inline PangoFontMap *_Nullable penumbra_font_map(FcConfig *_Nonnull fonts) {
    PangoFontMap *map = pango_ft2_font_map_new();
    if (!map) return NULL;
    pango_ft2_font_map_set_resolution(PANGO_FT2_FONT_MAP(map), 72, 72);
    pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(map), fonts);
    return map;
}

static inline void penumbra_unref(void *_Nonnull object) { g_object_unref(object); }

// The outline of a glyph goes to the functions.
static inline void penumbra_draw_glyph(
    hb_font_t *_Nonnull font, hb_codepoint_t glyph, hb_draw_funcs_t *_Nonnull functions, void *_Nonnull context) {
#if HB_VERSION_ATLEAST(7, 0, 0)
    hb_font_draw_glyph(font, glyph, functions, context);
#else
    hb_font_get_glyph_shape(font, glyph, functions, context);
#endif
}

// What Pango has in place of a glyph: for a character without one in the font, whose number is the rest, and for nothing visible.
static const PangoGlyph penumbra_unknown_glyph_flag = PANGO_GLYPH_UNKNOWN_FLAG;
static const PangoGlyph penumbra_empty_glyph = PANGO_GLYPH_EMPTY;
