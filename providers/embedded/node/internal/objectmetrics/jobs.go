package objectmetrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

var (
	jobScope     = scope{"namespace", "job_name"}
	cronJobScope = scope{"namespace", "cronjob"}
)

var (
	jobInfo      = jobScope.gauge("kube_job_info", "A job.")
	jobOwner     = jobScope.gauge("kube_job_owner", "The owners of a job.", "owner_kind", "owner_name", "owner_is_controller")
	jobComplete  = jobScope.gauge("kube_job_complete", "Whether a job has done its work.", "condition")
	jobFailed    = jobScope.gauge("kube_job_failed", "Whether a job has failed.", "condition")
	jobSuspended = jobScope.gauge("kube_job_status_suspended", "Whether a job is suspended.")
	jobFailures  = jobScope.gauge("kube_job_status_failed", "The failed pods of a job, by the reason of its failure.", "reason")
)

var jobNumbers = []number[*batchv1.Job]{
	{jobScope.gauge("kube_job_created", "When a job was created, in Unix seconds."),
		func(j *batchv1.Job) (float64, bool) { return moment(&j.CreationTimestamp) }},
	{jobScope.gauge("kube_job_spec_parallelism", "The pods of a job that may run at a time."),
		func(j *batchv1.Job) (float64, bool) { return optional(j.Spec.Parallelism) }},
	{jobScope.gauge("kube_job_spec_completions", "The pods of a job that are to succeed."),
		func(j *batchv1.Job) (float64, bool) { return optional(j.Spec.Completions) }},
	{jobScope.gauge("kube_job_spec_active_deadline_seconds", "The seconds that a job may take."),
		func(j *batchv1.Job) (float64, bool) { return optional(j.Spec.ActiveDeadlineSeconds) }},
	{jobScope.gauge("kube_job_status_active", "The pods of a job that run or wait."),
		func(j *batchv1.Job) (float64, bool) { return count(j.Status.Active) }},
	{jobScope.gauge("kube_job_status_ready", "The ready pods of a job."),
		func(j *batchv1.Job) (float64, bool) {
			if j.Status.Ready == nil {
				return 0, true
			}
			return count(*j.Status.Ready)
		}},
	{jobScope.gauge("kube_job_status_succeeded", "The pods of a job that succeeded."),
		func(j *batchv1.Job) (float64, bool) { return count(j.Status.Succeeded) }},
	{jobScope.gauge("kube_job_status_start_time", "When a job was taken up, in Unix seconds."),
		func(j *batchv1.Job) (float64, bool) { return moment(j.Status.StartTime) }},
	{jobScope.gauge("kube_job_status_completion_time", "When a job had done its work, in Unix seconds."),
		func(j *batchv1.Job) (float64, bool) { return moment(j.Status.CompletionTime) }},
}

var jobFailureReasons = []string{"BackoffLimitExceeded", "DeadlineExceeded", "Evicted"}

func collectJob(out chan<- prometheus.Metric, j *batchv1.Job) {
	s := sink{out: out, id: []string{j.Namespace, j.Name}}
	s.send(jobInfo, 1)
	sendOwners(s, jobOwner, j.OwnerReferences)
	sendNumbers(s, j, jobNumbers)
	failure := ""
	for _, condition := range j.Status.Conditions {
		switch condition.Type {
		case batchv1.JobComplete:
			sendCondition(s, jobComplete, condition.Status)
		case batchv1.JobFailed:
			sendCondition(s, jobFailed, condition.Status)
			failure = condition.Reason
		case batchv1.JobSuspended:
			s.send(jobSuspended, truth(condition.Status == corev1.ConditionTrue))
		}
	}
	collectJobFailures(s, j.Status.Failed, failure)
}

// collectJobFailures splits the failures by known reasons; a count without a known reason stands alone, its reason empty.
func collectJobFailures(s sink, failed int32, reason string) {
	if failed == 0 {
		s.send(jobFailures, 0, "")
		return
	}
	known := false
	if reason != "" {
		for _, possible := range jobFailureReasons {
			known = known || possible == reason
		}
		sendOneOf(s, jobFailures, reason, jobFailureReasons)
	}
	if !known {
		s.send(jobFailures, float64(failed), "")
	}
}

var cronJobInfo = cronJobScope.gauge("kube_cronjob_info", "What a cron job runs by.", "schedule", "concurrency_policy", "timezone")

var cronJobNumbers = []number[*batchv1.CronJob]{
	{cronJobScope.gauge("kube_cronjob_created", "When a cron job was created, in Unix seconds."),
		func(c *batchv1.CronJob) (float64, bool) { return moment(&c.CreationTimestamp) }},
	{cronJobScope.gauge("kube_cronjob_metadata_resource_version", "The resource version of a cron job."),
		func(c *batchv1.CronJob) (float64, bool) {
			version, err := strconv.ParseFloat(c.ResourceVersion, 64)
			return version, err == nil
		}},
	{cronJobScope.gauge("kube_cronjob_spec_suspend", "Whether a cron job is suspended."),
		func(c *batchv1.CronJob) (float64, bool) {
			if c.Spec.Suspend == nil {
				return 0, false
			}
			return flag(*c.Spec.Suspend)
		}},
	{cronJobScope.gauge("kube_cronjob_spec_starting_deadline_seconds", "How late a run of a cron job may start, in seconds."),
		func(c *batchv1.CronJob) (float64, bool) { return optional(c.Spec.StartingDeadlineSeconds) }},
	{cronJobScope.gauge("kube_cronjob_spec_successful_job_history_limit", "The successful jobs of a cron job that are kept."),
		func(c *batchv1.CronJob) (float64, bool) { return optional(c.Spec.SuccessfulJobsHistoryLimit) }},
	{cronJobScope.gauge("kube_cronjob_spec_failed_job_history_limit", "The failed jobs of a cron job that are kept."),
		func(c *batchv1.CronJob) (float64, bool) { return optional(c.Spec.FailedJobsHistoryLimit) }},
	{cronJobScope.gauge("kube_cronjob_status_active", "The running jobs of a cron job."),
		func(c *batchv1.CronJob) (float64, bool) { return count(len(c.Status.Active)) }},
	{cronJobScope.gauge("kube_cronjob_status_last_schedule_time", "When a cron job was last due, in Unix seconds."),
		func(c *batchv1.CronJob) (float64, bool) { return moment(c.Status.LastScheduleTime) }},
	{cronJobScope.gauge("kube_cronjob_status_last_successful_time", "When a job of a cron job last succeeded, in Unix seconds."),
		func(c *batchv1.CronJob) (float64, bool) { return moment(c.Status.LastSuccessfulTime) }},
	{cronJobScope.gauge("kube_cronjob_next_schedule_time", "When a cron job is due next, in Unix seconds."), nextRun},
}

func collectCronJob(out chan<- prometheus.Metric, c *batchv1.CronJob) {
	s := sink{out: out, id: []string{c.Namespace, c.Name}}
	zone := ""
	if c.Spec.TimeZone != nil {
		zone = *c.Spec.TimeZone
	}
	s.send(cronJobInfo, 1, c.Spec.Schedule, string(c.Spec.ConcurrencyPolicy), zone)
	sendNumbers(s, c, cronJobNumbers)
}

// nextRun gives the first time after the last run (or the creation) that fits the schedule; none for a suspended job.
func nextRun(c *batchv1.CronJob) (float64, bool) {
	if c.Spec.Suspend != nil && *c.Spec.Suspend {
		return 0, false
	}
	schedule, err := cron.ParseStandard(c.Spec.Schedule)
	if err != nil {
		return 0, false
	}
	from := c.CreationTimestamp.Time
	if c.Status.LastScheduleTime != nil {
		from = c.Status.LastScheduleTime.Time
	}
	zone := time.UTC
	if c.Spec.TimeZone != nil {
		if zone, err = time.LoadLocation(*c.Spec.TimeZone); err != nil {
			return 0, false
		}
	}
	return float64(schedule.Next(from.In(zone)).Unix()), true
}
