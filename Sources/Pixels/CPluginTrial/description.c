#include "description.h"

#include <string.h>

#include "penumbra_plugin.h"
#include "plugin_trial.h"

/* Keeps the compiler from leaving out what is read for nothing. */
static volatile size_t seen;

static void read_text(const char *text) {
    if (text) seen += strlen(text);
}

static void read_choices(const char *const *choices) {
    for (int32_t index = 0; choices && index <= PLUGIN_MOST_CHOICES && choices[index]; index++) read_text(choices[index]);
}

static void read_parameters(const penumbra_plugin *plugin) {
    const size_t size = plugin->parameter_size;
    if (plugin->parameter_count > PLUGIN_MOST_PARAMETERS || size < PENUMBRA_PARAMETER_FIRST_SIZE) return;
    for (uint32_t index = 0; plugin->parameters && index < plugin->parameter_count; index++) {
        penumbra_parameter parameter = {0};
        memcpy(&parameter, (const char *)plugin->parameters + index * size, size < sizeof parameter ? size : sizeof parameter);
        read_text(parameter.name);
        read_text(parameter.unit);
        read_text(parameter.summary);
        if (parameter.kind == PENUMBRA_CHOICE) read_choices(parameter.choices);
        read_text(parameter.needed);
        if (parameter.needed) read_choices(parameter.needed_words);
    }
}

void read_whole_description(const void *description, uint32_t host_abi) {
    /* These two come first in every version of the structure; only then is it known how much may be read. */
    uint32_t head[2];
    memcpy(head, description, sizeof head);
    const size_t size = head[1];
    if (head[0] != host_abi || size < PENUMBRA_PLUGIN_FIRST_SIZE) return;
    penumbra_plugin plugin = {0};
    memcpy(&plugin, description, size < sizeof plugin ? size : sizeof plugin);
    seen += plugin.render != NULL;
    read_text(plugin.name);
    read_text(plugin.version);
    read_text(plugin.summary);
    read_parameters(&plugin);
}
