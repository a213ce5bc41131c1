/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Which waits are recorded. One of length t is drawn with the probability t / T, or 1 if it is longer than T,
 * and stands for max(1, T / t) waits of its length: sums are right on average whatever T is, as long as T is
 * chosen without looking at the wait. Each record says which T it was drawn with.
 *
 * Where T is not fixed, each process has its own, which follows from the draws that it had before: it doubles
 * when the process has used up its share of a slice of time, and falls again when a slice goes by without
 * that. The share is as large as all processes together can have without drawing more than they should, the
 * same for each: who needs less than that has all of its waits recorded, whatever the others do. Waits that
 * people notice have a T of their own, so that a crowd of short ones does not hide them. While new processes
 * bring too many draws, others begin with a longer T, and T doubles earlier.
 */
#ifndef OFFCPU_BPF_DRAW_BPF_H_
#define OFFCPU_BPF_DRAW_BPF_H_

#include "clock.bpf.h"
#include "counters.bpf.h"
#include "space.bpf.h"
#include "task.bpf.h"
#include "this_cpu.bpf.h"

#define NOT_DRAWN (~0ULL)
#define SLICE_NS (1ULL << 27) /* an eighth of a second */
#define NOTICED_NS NS_PER_SECOND
#define MOST_SAMPLE_NS (1ULL << 36)
/* That a process may draw in a second, however many others want to: more say nothing new of it. */
#define MOST_DRAWS 1000
/* Of a slice; where the share is smaller, the slice is longer. */
#define LEAST_LIMIT 4
#define MOST_SLICES 64
/* Until it is known how many processes want a share, it is this part of all draws. */
#define FIRST_SHARE 16

/* So many times as many draws as there should be in a slice are too many. New processes bring them. */
#define CROWD 2
/* Of a slice, as long as there are too many draws. */
#define CROWDED_LIMIT 2

/* What all processes have in common. */
struct pot {
	__u64 began_ns; /* of the slice */
	__u64 drawn;	/* since then */
	__u64 claimed;	/* of these, of each process no more than its share */
	__u64 share;	/* draws of a process, in 256ths and a slice */
	__u64 first_ns; /* T of a process that is new: rises while there are too many draws */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pot);
} pots SEC(".maps");

/* CPUs' clocks may be a little apart. */
static __always_inline bool is_over(__u64 began_ns, __u64 length_ns, __u64 now)
{
	return (__s64)(now - began_ns) >= (__s64)length_ns;
}

static __always_inline __u64 draws_in_slice(__u64 per_second)
{
	return 256 * per_second * (SLICE_NS >> 10) / (NS_PER_SECOND >> 10);
}

/* As many in a slice, in 256ths, as these in some time. */
static __always_inline __u64 in_slice(__u64 draws, __u64 ns)
{
	return 256 * draws * (SLICE_NS >> 10) / (ns >> 10);
}

/* T for new processes in the next slice. */
static __always_inline __u64 first_after(__u64 first_ns, bool is_crowded)
{
	if (first_ns < config.sample_ns)
		first_ns = config.sample_ns;
	if (!is_crowded)
		first_ns -= (first_ns - config.sample_ns) / 2;
	else if (first_ns < NOTICED_NS / 2)
		first_ns *= 2;
	return first_ns;
}

/* A new slice of all, begun by who sees first that the old one is over. */
static __always_inline void divide_again(struct pot *pot, __u64 now)
{
	__u64 began = pot->began_ns, all = draws_in_slice(control.draws_per_second), drawn, claimed, share;

	if (!is_over(began, SLICE_NS, now) ||
	    __sync_val_compare_and_swap(&pot->began_ns, began, now) != began)
		return;
	drawn = in_slice(__sync_lock_test_and_set(&pot->drawn, 0), now - began);
	pot->first_ns = first_after(pot->first_ns, drawn > CROWD * all);
	claimed = in_slice(__sync_lock_test_and_set(&pot->claimed, 0), now - began);
	share = pot->share ?: all / FIRST_SHARE;
	if (claimed > all)
		share = share * all / claimed;
	else
		share += (claimed < all / 2 ? share : share / 4) + 1;
	if (share > all)
		share = all;
	if (share > draws_in_slice(MOST_DRAWS))
		share = draws_in_slice(MOST_DRAWS);
	pot->share = share ?: 1;
}

/* A process's slice is over: T falls by what was not used of the share, and further if a time without any
 * event has gone by since. Before the first one T is `first_ns`. */
static __always_inline void begin_slice(struct draw *draw, __u64 began, __u64 length_ns, __u64 now,
					bool is_short)
{
	__u64 ns = draw->sample_ns, limit = draw->limit, share, idle = (now - began) / length_ns - 1;
	__u32 zero = 0;
	struct pot *pot = bpf_map_lookup_elem(&pots, &zero);

	if (!pot)
		return;
	divide_again(pot, now);
	share = pot->share ?: 1;
	if (limit && draw->drawn < limit)
		ns = ns * (limit + draw->drawn) / (2 * limit);
	ns >>= idle < 40 ? idle : 40;
	if (is_short && !draw->slices)
		ns = pot->first_ns;
	draw->sample_ns = ns > config.sample_ns ? ns : config.sample_ns;
	draw->slices = 1 + 256 * LEAST_LIMIT / share;
	if (draw->slices > MOST_SLICES)
		draw->slices = MOST_SLICES;
	limit = draw->slices * share / 256;
	draw->limit = limit ?: 1;
	draw->drawn = 0;
}

static __always_inline void renew(struct draw *draw, __u64 now, bool is_short)
{
	__u64 began = draw->began_ns, length_ns = (draw->slices ?: 1) * SLICE_NS;

	if (is_over(began, length_ns, now) &&
	    __sync_val_compare_and_swap(&draw->began_ns, began, now) == began)
		begin_slice(draw, began, length_ns, now, is_short);
}

/* Are there too many draws in this slice already? */
static __always_inline bool is_crowded(const struct pot *pot)
{
	return 256 * pot->drawn > CROWD * draws_in_slice(control.draws_per_second);
}

static __always_inline void count_draw(struct draw *draw)
{
	__u32 drawn = __sync_fetch_and_add(&draw->drawn, 1) + 1, limit = draw->limit ?: 1, zero = 0;
	struct pot *pot = bpf_map_lookup_elem(&pots, &zero);

	if (!pot)
		return;
	__sync_fetch_and_add(&pot->drawn, 1);
	if (drawn <= limit)
		__sync_fetch_and_add(&pot->claimed, 1);
	if (limit > CROWDED_LIMIT && is_crowded(pot))
		limit = CROWDED_LIMIT;
	if (drawn % limit == 0 && draw->sample_ns < MOST_SAMPLE_NS)
		draw->sample_ns *= 2;
}

/* Is a wait drawn with this random number? */
static __always_inline bool happens(__u64 waited_ns, __u64 sample_ns, __u32 random)
{
	if (waited_ns >= sample_ns)
		return true;
	if (sample_ns < 1ULL << 32)
		return random < (waited_ns << 32) / sample_ns;
	return random < (waited_ns << 24) / (sample_ns >> 8);
}

/* What a wait is drawn with: a number, and the T that it has been compared with already, or 0. */
struct lot {
	__u64 sample_ns;
	__u32 random;
};

/*
 * Is the wait that `task` ends now one of the many that are not drawn? Told by its stamp alone, with what was
 * known of T when a wait of the thread was last looked at closely, which was in this recording: so the wait
 * began in it. If it is not told so, `lot` is what is to be drawn with: the same number, so that both looks
 * are one draw, and with the larger T of the two.
 */
static __always_inline bool passes_by(struct task_struct *task, struct stamp *stamp, struct wire_cpu *cpu,
				      __u64 now, struct lot *lot)
{
	__u64 waited_ns = now - stamp->out_ns;

	if (!cpu || !stamp->out_ns || now >= stamp->until_ns || waited_ns >= NOTICED_NS ||
	    task->sched_info.pcount != stamp->arrivals)
		return false;
	lot->sample_ns = stamp->sample_ns;
	if (lot->random < waited_ns * stamp->scale)
		return false;
	stamp->out_ns = 0;
	cpu->passed_by.count++;
	cpu->passed_by.ns += waited_ns;
	return true;
}

/* What later waits of the thread may be drawn with at once. */
static __always_inline void note_draw(struct stamp *stamp, __u64 sample_ns, __u64 until_ns)
{
	stamp->sample_ns = sample_ns;
	stamp->until_ns = until_ns;
	stamp->scale = sample_ns > 1 ? ((1ULL << 32) - 1) / sample_ns + 1 : ~0U;
}

/* A wait with the T of its process. A global function, so that the verifier goes through it once. */
__noinline __u64 draw_of(struct space *space, __u64 waited_ns, __u64 now, __u64 least_ns, __u32 random)
{
	bool is_short = waited_ns < NOTICED_NS;
	struct draw *draw;
	__u64 sample_ns;

	if (!space)
		return NOT_DRAWN;
	draw = is_short ? &space->of_short : &space->of_long;
	renew(draw, now, is_short);
	sample_ns = draw->sample_ns > least_ns ? draw->sample_ns : least_ns;
	if (!happens(waited_ns, sample_ns, random))
		return NOT_DRAWN;
	count_draw(draw);
	return sample_ns;
}

/* Is a wait of `task`, which ended at `now`, recorded? Returns the T that it was drawn with, 0 where all are
 * recorded, or NOT_DRAWN. */
static __always_inline __u64 draw(struct task_struct *task, struct stamp *stamp, __u64 waited_ns, __u64 now,
				  struct lot lot, enum presence presence)
{
	struct space *space = config.adapts ? space_of(task, presence == ABOUT_TO_RUN) : NULL;
	__u64 sample_ns;

	if (space) {
		sample_ns = draw_of(space, waited_ns, now, lot.sample_ns, lot.random);
		note_draw(stamp, space->of_short.sample_ns,
			  space->of_short.began_ns + (space->of_short.slices ?: 1) * SLICE_NS);
		return sample_ns;
	}
	note_draw(stamp, config.sample_ns, config.adapts ? 0 : ~0ULL);
	sample_ns = config.sample_ns > lot.sample_ns ? config.sample_ns : lot.sample_ns;
	return !sample_ns || happens(waited_ns, sample_ns, lot.random) ? sample_ns : NOT_DRAWN;
}

#endif /* OFFCPU_BPF_DRAW_BPF_H_ */
