/* Users' places, and what is counted of each. */
#include "tests/bpf/host/programs.h"

static struct task_struct *task;

/* The one task, of this user. */
static struct task_struct *task_of(__u32 uid)
{
	((struct cred *)task->cred)->uid.val = uid;
	return task;
}

TEST(Users, RootAndTheKernelHavePlacesOfTheirOwn)
{
	task = host_new_process(100);
	EXPECT_EQ(user_of(task_of(0)), PLACE_OF_ROOT);
	for (__u32 salt = 0; salt < 100; salt++)
		for (__u32 uid = 1; uid < 100; uid++) {
			settings->user_salt = salt * 0x9e3779b1;
			EXPECT_TRUE(user_of(task_of(uid)) >= PLACES_OF_THEIR_OWN);
		}
}

/* Its threads are root's by their credentials. Those that it makes for a program (of io_uring) are the
 * program's. */
TEST(Users, ThreadsOfTheKernelAreNotRoots)
{
	task = host_new_process(100);
	task->flags |= PF_KTHREAD;
	EXPECT_EQ(user_of(task_of(0)), PLACE_OF_KERNEL);
	task->flags = PF_IO_WORKER;
	EXPECT_EQ(user_of(task_of(0)), PLACE_OF_ROOT);
	EXPECT_TRUE(user_of(task_of(1000)) >= PLACES_OF_THEIR_OWN);
}

TEST(Users, PlacesAreWithinTheTable)
{
	task = host_new_process(100);
	for (__u32 bit = 0; bit < 32; bit++) {
		EXPECT_LT(user_of(task_of(1U << bit)), WIRE_USERS);
		EXPECT_LT(user_of(task_of(~(1U << bit))), WIRE_USERS);
	}
	EXPECT_LT(user_of(task_of(~0U)), WIRE_USERS);
}

/* Users of a service share a place by chance, and not with the same users in each recording. */
TEST(Users, WhoSharesAPlaceDependsOnTheRecording)
{
	__u32 together = 0, other = 1001, place;

	task = host_new_process(100);
	place = user_of(task_of(1000));
	while (user_of(task_of(other)) != place)
		other++;
	for (__u32 i = 1; i <= 1000; i++) {
		settings->user_salt = i * 2654435761U;
		together += user_of(task_of(1000)) == user_of(task_of(other));
	}
	EXPECT_LT(together, 100);
}

/* Who started a set-user-ID program pays for it. */
TEST(Users, RealUserCounts)
{
	task = host_new_process(100);
	((struct cred *)task->cred)->euid.val = 0;
	EXPECT_NE(user_of(task_of(1000)), 0);
}

TEST(Users, ThresholdIsTheOneOfThePlace)
{
	control.sample_ns[7] = 4711;
	EXPECT_EQ(threshold_of(7), 4711);
	EXPECT_EQ(threshold_of(8), 0);
}

TEST(Users, EachCpuCountsForItself)
{
	host_resize(&users, HOST_CPUS * WIRE_USERS);
	for (host.cpu = 0; host.cpu < HOST_CPUS; host.cpu++)
		for (__u32 i = 0; i <= host.cpu; i++) {
			count_wait_of(WIRE_USERS - 1);
			count_capture_of(0);
		}
	for (host.cpu = 0; host.cpu < HOST_CPUS; host.cpu++) {
		EXPECT_EQ(recorded_of(WIRE_USERS - 1)->waits, host.cpu + 1);
		EXPECT_EQ(recorded_of(WIRE_USERS - 1)->captures, 0);
		EXPECT_EQ(recorded_of(0)->waits, 0);
		EXPECT_EQ(recorded_of(0)->captures, host.cpu + 1);
	}
}

TEST(Users, CpuWithoutPlacesCountsNothing)
{
	host_resize(&users, WIRE_USERS);
	host.cpu = 1;
	count_wait_of(3);
	EXPECT_FALSE(recorded_of(3));
}
