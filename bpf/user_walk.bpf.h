/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Walks the user stack of the current thread at a switch, by rows that the walker has handed over. So most
 * waits need no capture: the walk gives the stack an id, and if the walker has walked the same stack before,
 * it knows what the id stands for. All else is a capture: code that may have changed, a row that is missing,
 * a stack that is new, memory that is not resident.
 *
 * Reads nothing outside of the stack, from the red zone upwards, and of another one, which a signal has
 * interrupted, but for what tells versions of made code (made_code.bpf.h); and only what is resident.
 */
#ifndef OFFCPU_BPF_USER_WALK_BPF_H_
#define OFFCPU_BPF_USER_WALK_BPF_H_

#include "code.bpf.h"
#include "counters.bpf.h"
#include "stack_memory.bpf.h"
#include "untrusted.bpf.h"
#include "user_memo.bpf.h"
#include "user_rows.bpf.h"

#define USER_WALK_FRAMES 256
#define FRAMES_A_CALL 4
/* On the stack where it begins, and on another one. */
#define ALL_FRAMES (2 * USER_WALK_FRAMES)
/* Read of the stack at a time: the words of a frame that are needed lie side by side below its end. */
#define WINDOW_BYTES 2048
#define WINDOW_WORDS (WINDOW_BYTES / 8)
/* Below the return address: what functions have saved of the registers of their callers. */
#define SAVED_BYTES 64
#define KEPT_SP_BELOW_CFA 24 /* behind the return address and the caller's frame pointer */

struct user_walk {
	__u64 words[MEMO_BYTES / 8]; /* WINDOW_WORDS while it walks */
	__u64 window, window_end;    /* addresses */
	__u64 stack_begin, stack_end;
	__u64 code_hash;
	__u64 rows_begin; /* see wire_user_row_key */
	__u64 pc, sp;
	__u64 fp;	       /* the frame pointer, if it is in the register still */
	__u64 fp_at;	       /* else where it was saved */
	__u64 ra;	       /* of the leaf, the register that calls leave the return address in */
	struct wire_hash hash; /* of the frames */
	__u64 elsewhere; /* the stack pointer on another stack, which a signal has interrupted; 0: none */
	__u32 failure;	 /* wire_counter_id; 0: none yet */
	__u8 is_leaf;
	__u8 knows_fp;
	__u8 is_complete;
	__u8 needs_check; /* the code may have changed since it was hashed */
	__u32 frames;	  /* that it has come to */
	__u64 frame_pcs[ALL_FRAMES];
	struct code_check check;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct user_walk);
} user_walks SEC(".maps");

/* Copies what is resident from `begin` on: all of a window, or the rest of the page. */
static __always_inline void move_window(struct user_walk *walk, __u64 begin)
{
	__u64 bytes = walk->stack_end - begin, rest = WIRE_PAGE_BYTES - (begin & (WIRE_PAGE_BYTES - 1));

	walk->window = walk->window_end = begin;
	if (bytes > WINDOW_BYTES)
		bytes = WINDOW_BYTES;
	barrier_var(bytes); /* compared by itself, as in cut_and_hash */
	if (bytes > WINDOW_BYTES)
		return;
	if (!bpf_probe_read_user(walk->words, bytes, (void *)begin)) {
		walk->window_end = begin + bytes;
		return;
	}
	barrier_var(rest);
	if (rest > WINDOW_BYTES || rest >= bytes)
		return;
	if (!bpf_probe_read_user(walk->words, rest, (void *)begin))
		walk->window_end = begin + rest;
}

static __always_inline bool is_in_window(const struct user_walk *walk, __u64 address)
{
	return address >= walk->window && address + 8 <= walk->window_end;
}

/* The word at an address of the stack from where the walk began. */
static __always_inline __u64 user_word(struct user_walk *walk, struct user_memo *memo, __u64 address)
{
	__u64 begin = address - SAVED_BYTES, word;

	if (address & 7 || address < walk->stack_begin || address >= walk->stack_end) {
		walk->failure = WIRE_COUNT_USER_WALK_NO_MEMORY;
		return 0;
	}
	if (!is_in_window(walk, address))
		move_window(walk, begin > walk->stack_begin ? begin : walk->stack_begin);
	if (!is_in_window(walk, address)) {
		walk->failure = WIRE_COUNT_USER_WALK_NO_MEMORY;
		return 0;
	}
	word = walk->words[((address - walk->window) >> 3) & (WINDOW_WORDS - 1)];
	note_word(memo, address, word);
	return word;
}

/* What lies at the stack pointer where the walk begins, if that is resident. */
static __always_inline __u64 word_at_sp(const struct user_walk *walk)
{
	return walk->words[((walk->sp - walk->window) >> 3) & (WINDOW_WORDS - 1)];
}

/* Where it was saved it is read only when it is needed: it may be anything else until then. */
static __always_inline __u64 frame_pointer(struct user_walk *walk, struct user_memo *memo)
{
	if (walk->fp_at)
		walk->fp = user_word(walk, memo, walk->fp_at);
	else if (walk->fp == memo->fp)
		memo->uses_fp = 1;
	walk->fp_at = 0;
	return walk->fp;
}

/* May there be a frame where the frame pointer leads? */
static __always_inline bool is_plausible_fp(const struct user_walk *walk)
{
	return walk->knows_fp && !(walk->fp & 7) && walk->fp >= walk->sp && walk->fp < walk->stack_end;
}

/* The caller's stack pointer, which lies above this frame's, too. The word is one below the frame pointer. */
static __always_inline __u64 kept_sp(struct user_walk *walk, struct user_memo *memo, __u64 cfa)
{
	__u64 sp = user_word(walk, memo, cfa - KEPT_SP_BELOW_CFA);

	if (sp & 7 || sp <= walk->sp)
		walk->failure = WIRE_COUNT_USER_WALK_NO_MEMORY;
	return sp;
}

/* Is the return address still where the call has left it? */
static __always_inline bool keeps_ra(__u64 row)
{
	return !CALLS_PUSH && !row_ra_offset(row);
}

/* In its register only where no call has been made since: in the leaf. */
static __always_inline __u64 return_address(struct user_walk *walk, struct user_memo *memo, __u64 row,
					    __u64 cfa)
{
	if (!keeps_ra(row))
		return PLAIN_USER_ADDRESS(user_word(walk, memo, cfa + row_ra_offset(row)));
	if (!walk->is_leaf)
		walk->failure = WIRE_COUNT_USER_WALK_NO_MEMORY;
	return PLAIN_USER_ADDRESS(walk->ra);
}

/* The caller's frame lies above this one, or begins where it does if that is a leaf without a frame. */
static __always_inline bool is_caller_above(const struct user_walk *walk, __u64 row, __u64 cfa)
{
	if (keeps_ra(row) && walk->is_leaf && cfa == walk->sp)
		return true;
	return cfa > walk->sp;
}

/* From a frame to its caller. */
static __always_inline void step_user(struct user_walk *walk, struct user_memo *memo, __u64 row)
{
	bool by_fp = row_cfa(row) == WIRE_CFA_FP;
	__u64 cfa = (by_fp ? frame_pointer(walk, memo) : walk->sp) + row_cfa_offset(row);

	if (by_fp && walk->knows_fp && !walk->fp && !walk->failure) {
		walk->is_complete = 1;
		return;
	}
	if (row & WIRE_ROW_GUESS && !walk->failure && !is_plausible_fp(walk)) {
		wire_hash_add(&walk->hash, WIRE_CUT);
		walk->is_complete = 1;
		return;
	}
	if ((by_fp && !walk->knows_fp) || !is_caller_above(walk, row, cfa)) {
		walk->failure = WIRE_COUNT_USER_WALK_NO_MEMORY;
		return;
	}
	walk->pc = return_address(walk, memo, row, cfa);
	if (row_fp(row) == WIRE_FP_AT_CFA) {
		walk->fp_at = cfa + row_fp_offset(row);
		walk->knows_fp = 1;
	} else if (row_fp(row) == WIRE_FP_LOST) {
		walk->knows_fp = 0;
	}
	walk->sp = row & WIRE_ROW_KEPT_SP ? kept_sp(walk, memo, cfa) : cfa;
	walk->is_leaf = 0;
	walk->is_complete = !walk->pc && !walk->failure;
}

/* From a signal trampoline to what was interrupted: as there a walk begins, but for the stack that it is on.
 */
static __always_inline void step_to_interrupted(struct user_walk *walk, struct user_memo *memo)
{
	__u64 context = walk->sp;

	walk->fp = user_word(walk, memo, context + CONTEXT_FP);
	walk->sp = user_word(walk, memo, context + CONTEXT_SP);
	walk->pc = user_word(walk, memo, context + CONTEXT_PC);
	if (!CALLS_PUSH)
		walk->ra = user_word(walk, memo, context + CONTEXT_RA);
	walk->fp_at = 0;
	walk->is_leaf = walk->knows_fp = 1;
	if (!walk->pc || walk->sp & 7)
		walk->failure = WIRE_COUNT_USER_WALK_NO_MEMORY;
	else if (walk->sp < walk->stack_begin || walk->sp >= walk->stack_end)
		walk->elsewhere = walk->sp;
}

static __always_inline void note_frame(struct user_walk *walk)
{
	walk->frame_pcs[walk->frames++ & (ALL_FRAMES - 1)] = walk->pc - !walk->is_leaf;
}

/* The row of made code, as there is one for its version; the stack's name tells what else it is made of. A
 * function of its own, so that the verifier goes through it once for each. */
static __noinline __u64 row_of_made_code(struct user_walk *walk, struct user_memo *memo, __u64 where)
{
	__u64 version = noted_version(&memo->made, where);
	__u64 row =
		version ? user_row(wire_user_row_key(walk->rows_begin ^ version, walk->pc - !walk->is_leaf))
			: 0;

	wire_hash_add(&walk->hash, version);
	for (int i = 0; i < WIRE_SHOWN_WORDS; i++) {
		__u64 words = row_shown(row, i);

		if (words)
			wire_hash_add(&walk->hash,
				      user_word(walk, memo, frame_pointer(walk, memo) - words * 8));
	}
	return row;
}

/* All addresses but the leaf's are those to return to, and looked up one before. True if this is the end. */
static __always_inline bool walk_user_frame(struct user_walk *walk, struct user_memo *memo)
{
	__u64 row = user_row(wire_user_row_key(walk->rows_begin, walk->pc - !walk->is_leaf));

	wire_hash_add(&walk->hash, walk->pc);
	if (row & WIRE_ROW_VERSIONED)
		row = row_of_made_code(walk, memo, row);
	if (!row) {
		walk->failure = WIRE_COUNT_USER_WALK_NO_ROW;
		return true;
	}
	note_frame(walk);
	if (row_cfa(row) == WIRE_CFA_NONE)
		walk->is_complete = 1;
	else if (row_cfa(row) == WIRE_CFA_CONTEXT)
		step_to_interrupted(walk, memo);
	else
		step_user(walk, memo, row);
	return walk->is_complete || walk->failure || walk->elsewhere;
}

struct walk_context {
	struct user_walk *walk;
	struct user_memo *memo;
};

/* bpf_loop calls this for several frames at a time, since its calls are not for free; 1 ends it. */
static long walk_user_frames(__u32 index, struct walk_context *context)
{
#pragma unroll
	for (int i = 0; i < FRAMES_A_CALL; i++)
		if (walk_user_frame(context->walk, context->memo))
			return 1;
	return 0;
}

/* The hash that the code of a process had when it was looked at last; 0: it is being written. */
static __always_inline __u64 last_hash(const struct space *space)
{
	return hash_at(space, *(volatile __u64 *)&space->sequence);
}

/* The hash of the current thread's code as far as it is known without looking at mappings, and whether it is
 * that of code as it was; 0: it is not known. */
static __always_inline __u64 known_code_hash(struct user_walk *walk, struct task_struct *task,
					     struct task_state *state, __u64 sequence)
{
	const struct code_seen *seen = &state->code;
	struct space *space;

	walk->needs_check = 0;
	if (seen->sequence == sequence && seen->mm == (__u64)untrusted(task)->mm &&
	    seen->exec_id == task->self_exec_id)
		return seen->hash;
	space = space_of(task, true);
	if (!space || !is_of(space, task))
		return 0;
	see_code(state, task, sequence, hash_at(space, sequence));
	if (seen->hash)
		return seen->hash;
	walk->needs_check = 1;
	return last_hash(space);
}

/* Fills in where the walk begins, and how far the stack may be read; returns a wire_counter_id. */
static __always_inline __u32 begin_user_walk(struct user_walk *walk, struct task_struct *task,
					     struct task_state *state)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u64 sequence = code_sequence(task);

	walk->code_hash = sequence ? known_code_hash(walk, task, state, sequence) : 0;
	if (!walk->code_hash)
		return WIRE_COUNT_USER_WALK_NO_CODE;
	walk->frames = 0;
	if (walk->needs_check)
		begin_check(&walk->check, task, walk->code_hash, sequence);
	walk->pc = user_pc(regs);
	walk->sp = user_sp(regs);
	walk->fp = user_fp(regs);
	if (!CALLS_PUSH)
		walk->ra = user_ra(regs);
	if (walk->sp & 7) /* the window begins there: words would be halves of two */
		return WIRE_COUNT_USER_WALK_NO_MEMORY;
	if (!is_in_stack(&state->stack, walk->sp) || state->stack.sequence != sequence)
		find_mapping(&walk->check.look.reader, walk->sp, false);
	if (!is_in_stack(&state->stack, walk->sp))
		return WIRE_COUNT_USER_WALK_NO_MEMORY;
	walk->stack_end = state->stack.end;
	walk->stack_begin = walk->sp - red_zone_bytes(state, walk->sp);
	move_window(walk, walk->stack_begin);
	if (walk->window_end <= walk->sp) { /* the red zone is of another page, which is not resident */
		walk->stack_begin = walk->sp;
		move_window(walk, walk->sp);
	}
	return 0;
}

/* Copies what lies above the first window, up to where a memo has its last word. */
static __always_inline bool copy_more(struct user_walk *walk, __u64 bytes)
{
	__u64 more = bytes - WINDOW_BYTES;

	if (bytes <= walk->window_end - walk->window)
		return true;
	if (walk->window_end - walk->window < WINDOW_BYTES || bytes > walk->stack_end - walk->window)
		return false;
	barrier_var(more); /* compared by itself, as in cut_and_hash */
	return more <= MEMO_BYTES - WINDOW_BYTES &&
	       !bpf_probe_read_user(&walk->words[WINDOW_WORDS], more, (void *)(walk->window + WINDOW_BYTES));
}

/* bpf_loop calls this for each frame; 1 ends it. */
static long check_frame(__u32 index, struct user_walk **walk)
{
	if (index >= ALL_FRAMES || index >= (*walk)->frames || (*walk)->check.has_failed)
		return 1;
	check_mapping(&(*walk)->check, (*walk)->frame_pcs[index]);
	return 0;
}

/* Is the code of all frames what its hash says? A global function, so that the verifier goes through it once,
 * as the next one is. */
__noinline int frames_are_as_known(struct user_walk *walk)
{
	if (!walk)
		return false;
	bpf_loop(ALL_FRAMES, check_frame, &walk, 0);
	return holds(&walk->check, bpf_get_current_task_btf());
}

/* Is the code of the walk that a memo keeps what its hash says? */
__noinline int memo_is_as_known(struct user_walk *walk, const struct user_memo *memo)
{
	if (!walk || !memo || !memo->mappings)
		return false;
	for (__u32 i = 0; i < CHECKED_MAPPINGS; i++)
		if (i < memo->mappings)
			check_mapping(&walk->check, memo->mapped_at[i]);
	return holds(&walk->check, bpf_get_current_task_btf());
}

/* The id of the stack, if this memo is of the walk, whose first window has been copied; else 0. */
static __always_inline __u64 remembered_stack(struct user_walk *walk, const struct user_memo *memo)
{
	if (!begins_alike(memo, walk->code_hash, walk->pc, walk->sp, walk->fp, walk->ra, walk->stack_begin) ||
	    !copy_more(walk, memo->bytes))
		return 0;
	if (!reads_alike(memo, walk->words))
		return 0;
	return !memo->made.count || made_code_is_alike(&memo->made) ? memo->id : 0;
}

/* The handler ran on a stack of its own. False: it is not known how far the other one may be read. */
static __always_inline bool go_to_other_stack(struct user_walk *walk, struct task_state *state)
{
	__u64 sp = walk->elsewhere;

	walk->stack_end = end_of_mapping(state, bpf_get_current_task_btf(), &walk->check.look.reader, sp);
	walk->stack_begin = sp - red_zone_of_page(sp);
	walk->elsewhere = 0;
	if (walk->stack_end > sp)
		return true;
	walk->failure = WIRE_COUNT_USER_WALK_NO_MEMORY;
	return false;
}

/* From where it begins to the outermost frame; returns a wire_counter_id. */
static __always_inline __u32 walk_to_end(struct user_walk *walk, struct user_memo *memo,
					 struct task_state *state)
{
	struct walk_context context = {.walk = walk, .memo = memo};

	begin_memo(memo, walk->code_hash, walk->pc, walk->sp, walk->fp, walk->ra, walk->stack_begin);
	walk->rows_begin = wire_user_rows_begin(hash_key(), walk->code_hash);
	walk->hash = wire_user_stack_begin(hash_key(), walk->code_hash);
	walk->fp_at = walk->elsewhere = 0;
	walk->failure = 0;
	walk->is_leaf = walk->knows_fp = 1;
	walk->is_complete = 0;
	bpf_loop(USER_WALK_FRAMES / FRAMES_A_CALL, walk_user_frames, &context, 0);
	if (walk->elsewhere && go_to_other_stack(walk, state))
		bpf_loop(USER_WALK_FRAMES / FRAMES_A_CALL, walk_user_frames, &context, 0);
	return walk->failure;
}

/* The id of the current thread's user stack, or 0, counted: it cannot be walked. A global function, so that
 * the verifier goes through it once. */
__noinline __u64 walked_user_stack(struct task_state *state)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 zero = 0, failure;
	struct user_walk *walk = bpf_map_lookup_elem(&user_walks, &zero);
	struct user_memo *memo;
	__u64 id;

	if (!walk || !state || !untrusted(task)->mm)
		return 0;
	failure = begin_user_walk(walk, task, state);
	state->walked.code_hash = walk->code_hash;
	memo = failure ? NULL : memo_of(walk->code_hash, walk->pc, walk->sp, word_at_sp(walk));
	if (memo) {
		id = remembered_stack(walk, memo);
		if (id && (!walk->needs_check || memo_is_as_known(walk, memo)))
			return id;
		failure = walk_to_end(walk, memo, state);
	}
	if (!failure && walk->needs_check && !frames_are_as_known(walk))
		failure = WIRE_COUNT_USER_WALK_NO_CODE;
	if (failure) {
		count_own_ns(failure, 0);
		return 0;
	}
	if (!memo || !walk->is_complete)
		return 0;
	id = wire_hash_end(walk->hash);
	if (walk->needs_check)
		note_mappings(memo, &walk->check);
	end_memo(memo, id);
	return id;
}

#endif /* OFFCPU_BPF_USER_WALK_BPF_H_ */
