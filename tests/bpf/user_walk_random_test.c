/* Chains of frames that a test builds at random, and the names that its own arithmetic gives them. */
#include "tests/bpf/user_script.h"

#define ROUNDS 3000
#define MOST_FRAMES 40

/* xorshift64: the chains are the same in each run. */
static __u64 draw_below(__u64 *state, __u64 below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 11) % below;
}

struct chain {
	__u64 random;
	__u64 frames[MOST_FRAMES];
	__u32 count;
	__u64 sp, fp;	 /* of the frame that is being built */
	__u64 fp_place;	 /* where the frame pointer is to be written, once it is known; 0: in the register */
	bool fp_is_free; /* no rule has fixed it yet */
};

static void write_fp(struct user_thread thread, struct chain *chain)
{
	if (chain->fp_place)
		host_write_word(thread.task, chain->fp_place, chain->fp);
	else
		thread.regs->bp = chain->fp;
}

/* Adds a frame whose caller's return address is `next`; the frame pointer gets a value where a frame needs
 * it. */
static void build_frame(struct user_thread thread, struct chain *chain, __u32 index, __u64 next)
{
	__u64 bytes = 8 + 8 * draw_below(&chain->random, draw_below(&chain->random, 8) ? 12 : 400);
	__u64 cfa = chain->sp + bytes, address = chain->frames[index] - !!index;
	__u32 rules = CFA_SP;
	__s64 cfa_offset = (__s64)bytes, fp_offset = 0;

	if (chain->fp_is_free && draw_below(&chain->random, 2)) {
		rules = CFA_FP;
		cfa_offset = 8 * ((__s64)draw_below(&chain->random, 40) - 20);
		chain->fp = cfa - cfa_offset;
		write_fp(thread, chain);
		chain->fp_is_free = false;
	}
	if (bytes >= 16 && draw_below(&chain->random, 2)) {
		rules |= FP_AT_CFA;
		fp_offset = -8 * (__s64)(2 + draw_below(&chain->random, bytes / 8 - 1));
		chain->fp_place = cfa + fp_offset;
		chain->fp_is_free = true;
	}
	tell_row(address, rules, cfa_offset, fp_offset);
	host_write_word(thread.task, cfa - 8, next);
	chain->sp = cfa;
}

static __u64 new_address(struct chain *chain, __u32 index)
{
	return 0x10000 + 0x100000 * (__u64)index + 8 * draw_below(&chain->random, 8192);
}

static void build_chain(struct user_thread thread, struct chain *chain)
{
	bool ends_by_row = draw_below(&chain->random, 2);

	chain->count = 1 + draw_below(&chain->random, MOST_FRAMES);
	chain->sp = thread.regs->sp;
	chain->fp_is_free = true;
	for (__u32 i = 0; i < chain->count; i++)
		chain->frames[i] = new_address(chain, i);
	thread.regs->ip = chain->frames[0];
	for (__u32 i = 0; i < chain->count; i++) {
		bool is_last = i + 1 == chain->count;

		if (is_last && ends_by_row)
			tell_row(chain->frames[i] - !!i, CFA_NONE, 0, 0);
		else
			build_frame(thread, chain, i, is_last ? 0 : chain->frames[i + 1]);
	}
}

/* A chain may be longer than its stack: then it is not walked. Twice: from its rows, and remembered or not.
 */
TEST(UserWalkRandom, ChainHasTheNameOfItsFrames)
{
	__u64 random = 20240613;
	__u32 walked = 0;

	for (__u32 round = 0; round < ROUNDS; round++) {
		struct chain chain = {.random = random + round * 0x9e3779b97f4a7c15ULL};
		struct user_thread thread;

		if (round % 50 == 0)
			set_up();
		thread = new_user_thread(1 + round, STACK + 8 * draw_below(&chain.random, 8000));
		build_chain(thread, &chain);
		check_note("round", round);
		if (chain.sp > STACK_END) {
			EXPECT_EQ(walked_id(thread), 0);
			continue;
		}
		EXPECT_EQ(walked_id(thread), user_id(chain.frames, chain.count));
		EXPECT_EQ(walked_id(thread), user_id(chain.frames, chain.count));
		walked++;
	}
	EXPECT_TRUE(walked > ROUNDS / 2);
}
