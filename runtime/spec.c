/* SPDX-License-Identifier: MIT */
/* Keeps the dispatcher specifications of a system. */
#include "spec.h"

#include "log.h"
#include "registry.h"

#include <errno.h>
#include <string.h>

const struct actor_dispatcher_ops actor__synchronous = {.size = sizeof(actor__synchronous)};

static bool same(const struct actor_dispatcher_spec *a, const struct actor_dispatcher_spec *b)
{
	return a->kind == b->kind && a->budget == b->budget && a->ops == b->ops &&
	       a->data == b->data && a->on_error == b->on_error &&
	       a->on_error_data == b->on_error_data;
}

static int check(const struct actor_system *system, const struct actor_dispatcher_spec *spec)
{
	if (spec->size < sizeof(*spec) || spec->kind < ACTOR_HYBRID || spec->kind > ACTOR_CUSTOM)
		return ACTOR_EOPTIONS;
	if (memchr(spec->id, 0, sizeof(spec->id)) == NULL || !actor__name_valid(spec->id))
		return ACTOR_ENAME;
	if (spec->kind == ACTOR_CUSTOM)
		return spec->ops && spec->ops->execute ? 0 : ACTOR_EOPTIONS;
	if (spec->ops == &actor__synchronous && !system->driver)
		return ACTOR_EDISPATCHER;
	if (spec->kind == ACTOR_MICROTASK)
		return 0;
	return spec->budget >= 1 && spec->budget <= ACTOR_BUDGET_MAX ? 0 : ACTOR_EBUDGET;
}

static int add(const struct actor_dispatcher_spec *spec,
	struct actor__spec_list **place)
{
	int number = actor__dispatcher_register(spec->id, spec->kind, spec->budget);
	struct actor__spec_list *entry;

	if (number < 0)
		return number;
	entry = actor__heap_alloc(sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->next = NULL;
	entry->number = (uint32_t)number;
	entry->spec = *spec;
	*place = entry;
	return 0;
}

int actor__spec_use(struct actor_system *system, const struct actor_dispatcher_spec *spec,
	struct actor__spec_list **out)
{
	struct actor__spec_list **place;
	bool added = false;
	int rc;

	if (!spec)
		spec = &system->standard;
	rc = check(system, spec);
	if (rc)
		return rc;
	pthread_mutex_lock(&system->lock);
	for (place = &system->specs; *place; place = &(*place)->next)
		if (strcmp((*place)->spec.id, spec->id) == 0)
			break;
	if (!*place) {
		rc = add(spec, place);
		added = !rc;
	} else if (!same(&(*place)->spec, spec))
		rc = ACTOR_EDISPATCHER;
	*out = *place;
	pthread_mutex_unlock(&system->lock);
	if (added && spec->budget > ACTOR__WARN_ABOVE)
		actor__log(system, ACTOR_LOG_WARN,
			"dispatcher %s: budget %u is above %u: timers and I/O may wait for long",
			spec->id, spec->budget, ACTOR__WARN_ABOVE);
	return rc;
}

void actor__specs_free(struct actor_system *system)
{
	while (system->specs) {
		struct actor__spec_list *entry = system->specs;

		system->specs = entry->next;
		actor__heap_free(entry);
	}
}
